// The words of the page in English and Chinese, and how it writes times and durations.

const words = {
	title: ["Locks", "锁"],
	skip: ["Skip to the locks", "跳到锁的列表"],
	now: ["Now", "当前"],
	history: ["History", "历史"],
	views: ["Views", "视图"],
	language: ["中文", "English"],
	"language.label": ["显示中文", "Show in English"],
	readonly: ["read-only", "只读"],
	reload: ["Reload", "刷新页面"],
	filter: ["Filter", "筛选"],
	nomatch: ["Nothing matches.", "没有符合的内容。"],
	more: ["Show {n} more", "再显示 {n} 个"],
	unnamed: ["unnamed", "未命名"],
	gate: ["gate", "闸门"],
	whole: ["the whole tree", "整棵树"],

	"link.connecting": ["Connecting …", "正在连接……"],
	"link.live": ["Live", "实时"],
	"link.away": ["No connection", "连接中断"],
	"link.trouble": ["Shown as of {time}", "当前显示 {time} 的状态"],
	"link.ended": ["Signed out", "已退出登录"],
	"link.forbidden": ["Not allowed", "无权限"],
	"banner.ended": ["Your session has ended. What you see is as of {time}. Sign in again, then reload.", "会话已结束。当前显示的是 {time} 的状态。请重新登录，然后刷新页面。"],
	"banner.forbidden": ["You have no access to the locks here, or have lost it. Ask whoever runs this service.", "你无权（或不再有权）查看这里的锁。请向服务的负责人申请权限。"],
	"banner.trouble": ["The lock store does not answer. What you see is as of {time}. Requests that need a lock are refused meanwhile; nothing is written without one.", "锁存储没有响应。当前显示的是 {time} 的状态。在此期间，需要锁的请求会被拒绝；没有锁就不会写入任何数据。"],
	"banner.degraded": ["The lock store does not answer. What you see is as of {time}. Since {detail}, the instance that answers lets requests whose writes are asserted go on without locks, and refuses others.", "锁存储没有响应。当前显示的是 {time} 的状态。自 {detail} 起，响应此页面的实例让写入有断言的请求不加锁继续，其他请求会被拒绝。"],
	"banner.away": ["The server does not answer. What you see is as of {time}. The page keeps trying.", "服务器没有响应。当前显示的是 {time} 的状态。页面会继续重试。"],
	"banner.broken": ["The server answered: {detail}", "服务器的响应：{detail}"],

	"trees.title": ["Trees", "树"],
	"trees.none": ["Nobody holds a lock anywhere.", "目前没有任何锁。"],
	"trees.truncated": ["{n} more not listed.", "还有 {n} 棵树没有列出。"],
	"trees.back": ["All trees", "所有的树"],
	"trees.longest": ["longest wait {d}", "最长已等 {d}"],
	held: ["{n} held", "{n} 把锁"],
	waiting: ["{n} waiting", "{n} 个在等"],
	"choose.title": ["Choose a tree", "请选择一棵树"],
	"choose.text": ["The list has every tree in which somebody holds a lock or waits for one. It updates by itself.", "列表里是所有有人持锁或等锁的树，会自动更新。"],
	"tree.free": ["Nobody holds a lock in this tree.", "这棵树上没有锁。"],
	"tree.loading": ["Loading …", "正在加载……"],

	"waits.title": ["Who waits for whom", "谁在等谁"],
	"waits.help": ["Each line leads from a request that waits to what it waits for. Red ends at a lock, amber at an earlier request.", "每条线从等待的请求指向它所等的对象。红线指向锁，黄线指向更早的请求。"],
	"others.title": ["Locks that nobody waits for", "没有人在等的锁"],
	behind: ["behind {who}", "排在 {who} 之后"],
	"behind.more": ["behind {who} and {n} more", "排在 {who} 等 {n} 个之后"],
	blocks: ["{n} waiting for this", "{n} 个请求在等它"],
	holds: ["holds {mode} on {path}", "持有 {path} 的 {mode} 锁"],
	wants: ["wants {mode} on {path}", "想要 {path} 的 {mode} 锁"],
	"for": ["held {d}", "已持有 {d}"],
	waits: ["waiting {d}", "已等 {d}"],
	lease: ["lease: {d} left", "租约还剩 {d}"],
	gives_up: ["gives up in {d}", "{d}后放弃"],
	detached: ["detached", "已分离"],
	"detached.help": ["No request has to run while this lock is held: somebody is editing, or a job works in steps. It ends when its time is up unless it is renewed.", "持有此锁不需要有请求在运行：有人正在编辑，或者后台任务在分步执行。到期没有续租就会结束。"],
	"modes.title": ["What the letters mean", "这些字母的含义"],
	"mode.X": ["X: exclusive. Nobody else reads or changes this node or anything beneath it.", "X：独占。其他人不能读取或修改此节点及其下的任何内容。"],
	"mode.S": ["S: shared. Others may read this node and all beneath it, nobody may change it.", "S：共享。其他人可以读取此节点及其下的内容，但谁也不能修改。"],
	"mode.SIX": ["SIX: reads everything beneath and changes parts of it.", "SIX：读取其下全部内容，并修改其中一部分。"],
	"mode.IX": ["IX: changes something beneath this node, or attributes of the node that no path depends on.", "IX：修改此节点之下的内容，或修改与路径无关的节点属性。"],
	"mode.IS": ["IS: reads something beneath this node.", "IS：读取此节点之下的内容。"],
	"mode.gate": ["Gate: the whole tree, exclusively.", "闸门：独占整棵树。"],

	"info.operation": ["Operation", "操作"],
	"info.note": ["Note", "备注"],
	"info.route": ["Route", "路由"],
	"info.instance": ["Instance", "实例"],
	"info.request_id": ["Request id", "请求编号"],
	"info.trace": ["Trace", "追踪"],
	"info.owner": ["Owner", "所有者"],
	"info.fence": ["Fence", "围栏令牌"],
	"info.since": ["Since", "开始于"],
	"info.until": ["Until", "结束于"],
	"info.claims": ["Claims", "声明"],
	"info.waits_for": ["Waits for", "在等"],

	"release.open": ["Release …", "释放……"],
	"release.title": ["Release this lock?", "要释放这把锁吗？"],
	"release.title.waiter": ["End this wait?", "要结束这个等待吗？"],
	"release.all": ["Everything this owner has in {tree} is taken away, {n} in all.", "此所有者在 {tree} 中的一切都会被收回，共 {n} 项。"],
	"release.holder": ["Its request is cancelled as soon as its process learns of this. The commit of work that relied on the lock is refused where the GORM plugin guards the table; code that ignores its cancelled context may go on elsewhere.", "它的进程得知后，请求随即取消。在 GORM 插件保护的表上，依赖此锁的提交会被拒绝；在别处，不理会 context 已取消的代码可能继续执行。"],
	"release.detached": ["Whoever edits under it finds the lock gone at the next step, and may have to start over.", "凭此锁编辑的人会在下一步发现锁已不在，可能要从头再来。"],
	"release.waiter": ["Its request fails, and loses its place in the queue.", "它的请求会失败，并失去排队的位置。"],
	"release.reason": ["Why? It is recorded in the server's log, with your name where the service knows it.", "为什么？原因会写进服务器日志；服务若知道你的名字，也一并写入。"],
	"release.hint": ["3 to 500 characters, such as: stuck since the deploy, agreed with Bob", "3 到 500 个字符，例如：发布后一直卡住，已与小王确认"],
	"release.cancel": ["Cancel", "取消"],
	"release.close": ["Close", "关闭"],
	"release.do": ["Release it", "释放"],
	"release.done": ["Released, {n} in all.", "已释放，共 {n} 项。"],
	"release.failed": ["It was not released. {why}", "没有释放。{why}"],
	"release.unsure": ["No answer came back, so it may or may not have been released. Look at the tree again before you try once more.", "没有收到响应，可能已释放，也可能没有。再试之前请先看看这棵树。"],
	"problem.unauthenticated": ["Your session has ended. Sign in again, then reload.", "会话已结束。请重新登录，然后刷新页面。"],
	"problem.forbidden": ["You may look, but not release.", "你可以查看，但不能释放。"],
	"problem.gone": ["It has ended by itself, or was taken by another request meanwhile.", "它已自行结束，或者期间已被另一个请求取代。"],
	"problem.lock-store-unavailable": ["The lock store does not answer. Try again when it does.", "锁存储没有响应。请在它恢复后再试。"],
	"problem.other": ["The server answered: {detail}", "服务器的响应：{detail}"],

	"history.title": ["The last waits", "最近的等待"],
	"history.off": ["No history is kept here: the service runs without a recorder (contention.New).", "这里没有保存历史：服务没有启用记录器（contention.New）。"],
	"history.none": ["No request of this process has had to wait long.", "此进程没有请求等待过很久。"],
	"history.scope": ["Seen by {instance} since {time}. Kept: the last {n}.", "由 {instance} 自 {time} 起观察到。保留最近 {n} 次。"],
	"history.dropped": ["Not kept: {n} earlier.", "更早的 {n} 次没有保留。"],
	"history.places": ["Where most time was lost", "累计等待最久的位置"],
	"history.sum": ["{n}×, {d} in all", "{n} 次等待，共 {d}"],
	"col.began": ["Began", "开始"],
	"col.place": ["Place", "位置"],
	"col.waiter": ["Waited", "等待者"],
	"col.lasted": ["For", "时长"],
	"col.blocker": ["In the way", "被谁挡住"],
	"outcome.granted": ["then got the lock", "后来得到了锁"],
	"outcome.timed-out": ["timed out", "超时"],
	"outcome.cancelled": ["gave up", "放弃"],
	"outcome.deadlock": ["refused: deadlock", "被拒绝：死锁"],
	"outcome.failed": ["failed", "失败"],
};

let chinese = false;
let short, clock, date, full, long;

// speak chooses a language by its tag.
export function speak(tag) {
	chinese = tag === "zh-CN";
	const language = document.documentElement.lang = spoken();
	short = new Intl.NumberFormat(language, { style: "unit", unit: "second", unitDisplay: "narrow", maximumFractionDigits: 1 });
	long = new Intl.DurationFormat(language, { style: "narrow" });
	clock = new Intl.DateTimeFormat(language, { timeStyle: "medium", hourCycle: "h23" });
	date = new Intl.DateTimeFormat(language, { dateStyle: "short", timeStyle: "medium", hourCycle: "h23" });
	full = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "long", hourCycle: "h23" });
}

export function spoken() { return chinese ? "zh-CN" : "en"; }

export function has(key) { return key in words; }

// t returns the text of a key. {name} in it stands for a value.
export function t(key, values = {}) {
	return words[key][chinese ? 1 : 0].replace(/\{(\w+)\}/g, (whole, name) => name in values ? isolated(String(values[name])) : whole);
}

// isolated keeps a text of others from turning the direction of the words around it.
export function isolated(text) {
	const clear = shown(text);
	return turns.test(clear) ? `\u2068${clear}\u2069` : clear;
}

// turns are the characters that are written from right to left, or that turn others.
const turns = /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc]/;

// shown spells out, in a text of others, the characters that nobody sees or that turn it around:
// two names must not look alike. Joiners, variants of signs and the tags of flags stay; if there is
// nothing else, all are spelt out.
export function shown(text) {
	return nothing.test(text) ? [...text].map(code).join("") : text.replace(unseen, code);
}

const unseen = /(?![\u061c\u180b-\u180d\u200c-\u200f\ufe00-\ufe0f\u{e0020}-\u{e007f}\u{e0100}-\u{e01ef}])\p{Default_Ignorable_Code_Point}|[\u202a-\u202e\u2066-\u2069]/gu;
const nothing = /^[\p{Default_Ignorable_Code_Point}\p{White_Space}]+$/u;
const code = char => `[U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`;

// duration writes milliseconds as people say them: two units at most.
export function duration(ms) {
	const s = Math.max(0, ms) / 1000;
	if (s < 60) return short.format(s < 10 ? Math.floor(s * 10) / 10 : Math.floor(s));
	const [days, hours, minutes, seconds] = [s / 86400, s / 3600 % 24, s / 60 % 60, s % 60].map(Math.floor);
	return long.format(days ? { days, hours } : hours ? { hours, minutes } : { minutes, seconds });
}

// time writes when something was: the time of day, with the date unless that is today.
export function time(iso) {
	const when = new Date(iso);
	return (when.toDateString() === new Date().toDateString() ? clock : date).format(when);
}

// exact writes a time with its date and zone.
export function exact(iso) { return full.format(new Date(iso)); }
