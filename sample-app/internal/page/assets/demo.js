// A plan to play with.
import { lang } from './i18n.js';

// A line is a suite, or a case if it begins with a dash, in English and in Chinese; the indentation
// says in which suite. What follows a colon are the steps, divided by semicolons.
const outline = `
Sign-in|登录
  Password|密码
    - wrong password: Open the sign-in page; Enter a known address and a wrong password; The page says that they do not match, and not which of them is wrong|- 密码错误: 打开登录页面; 输入已知的邮箱和错误的密码; 页面提示两者不匹配，但不说明哪一个错了
    - locked after ten tries: Try ten wrong passwords; The eleventh try is refused, with the right password too; A mail explains how to go on|- 十次失败后锁定: 连续输错十次密码; 第十一次即使密码正确也被拒绝; 邮件说明接下来怎么做
  Passkeys|通行密钥
    - lost device|- 设备丢失
Search|搜索
  Spelling|拼写
    - one letter too many: Search for “shooes”; The page shows shoes, and says so|- 多打了一个字: 搜索“运运动鞋”; 页面显示运动鞋，并加以说明
Basket|购物车
  Vouchers|优惠券
    - two vouchers at once|- 同时使用两张
  Kept for later|稍后购买
Checkout|结算
  Delivery|配送
    Time slots|时段
  Payment|支付
    Card|银行卡
      - declined by the bank|- 被银行拒绝
    Invoice|发票
Orders|订单
  Returns|退货
    - after thirty days|- 超过三十天
`;

/** The demo plan in the language of the page, as an import takes it. */
export function demo() {
  const which = lang() === 'zh-CN' ? 1 : 0, way = [], suites = [], cases = [];
  for (const line of outline.trim().split('\n')) {
    const [name, steps] = line.trim().split('|')[which].split(': ');
    way.length = (line.length - line.trimStart().length) / 2;
    if (name.startsWith('- ')) {
      const body = (steps ?? '').split('; ').filter(Boolean).map((step, i) => `${i + 1}. ${step}`).join('\n');
      cases.push({ path: [...way, name.slice(2)].join('/'), body });
    } else {
      way.push(name);
      suites.push(way.join('/'));
    }
  }
  return { name: ['Web shop', '网上商店'][which], suites, cases };
}
