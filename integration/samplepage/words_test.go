package samplepage

import (
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/chromium"
)

// Both languages say the same things, about the same values, and have all that the page asks for. A
// text for one thing alone is English's.
func TestWords_sameInBothLanguages(t *testing.T) {
	a := alone(t)
	p, _ := a.planOf("a")
	w := open(a, a.address(p))
	wrong := chromium.Eval[[]string](w.Tab, `(async () => {
		const words = async (file) => (await fetch(file)).json(), en = await words("/page/en.json"), zh = await words("/page/zh.json");
		const wrong = [], values = text => [...text.matchAll(/\{\w+\}/g)].map(m => m[0]).sort().join();
		for (const key of new Set([...Object.keys(en), ...Object.keys(zh)])) {
			if (key.endsWith(".one") && key.slice(0, -4) in en) continue;
			if (!(key in en) || !(key in zh)) wrong.push(key + " is in one language only");
			else if (values(en[key]) !== values(zh[key])) wrong.push(key + " has other values");
		}
		for (const { name } of performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".js"))) {
			const source = await (await fetch(name)).text();
			for (const [, key] of source.matchAll(/\bt\('([\w.-]+)'[,)]/g)) if (!(key in en)) wrong.push(key + " is in no language");
		}
		return wrong;
	})()`)
	if len(wrong) > 0 {
		t.Errorf("%q", wrong)
	}
}
