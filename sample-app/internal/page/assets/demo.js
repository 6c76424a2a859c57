// A plan to play with.
import { lang } from './i18n.js';

// A line is a suite, or a case if it begins with a dash; the indentation says in which suite. What
// follows a bar are the steps, divided by semicolons.
const english = `
Sign-in
  Password
    - wrong password | Open the sign-in page; Enter a known address and a wrong password; The page says that they do not match, and not which of them is wrong
    - locked after ten tries | Try ten wrong passwords; The eleventh try is refused, with the right password too; A mail explains how to go on
  Passkeys
    - lost device
Search
  Spelling
    - one letter too many | Search for “shooes”; The page shows shoes, and says so
Basket
  Vouchers
    - two vouchers at once
  Kept for later
Checkout
  Delivery
    Time slots
  Payment
    Card
      - declined by the bank
    Invoice
Orders
  Returns
    - after thirty days
`;
const chinese = `
登录
  密码
    - 密码错误 | 打开登录页面；输入已知的邮箱和错误的密码；页面提示两者不匹配，但不说明哪一个错了
    - 十次失败后锁定 | 连续输错十次密码；第十一次即使密码正确也被拒绝；邮件说明接下来怎么做
  通行密钥
    - 设备丢失
搜索
  拼写
    - 多打了一个字 | 搜索“运运动鞋”；页面显示运动鞋，并加以说明
购物车
  优惠券
    - 同时使用两张
  稍后购买
结算
  配送
    时段
  支付
    银行卡
      - 被银行拒绝
    发票
订单
  退货
    - 超过三十天
`;

/** The demo plan in the language of the page, as an import takes it. */
export function demo() {
  const chineseNow = lang() === 'zh-CN';
  const way = [], suites = [], cases = [];
  for (const line of (chineseNow ? chinese : english).trim().split('\n')) {
    const depth = (line.length - line.trimStart().length) / 2, [name, steps] = line.trim().split(' | ');
    way.length = depth;
    if (name.startsWith('- ')) {
      const body = (steps ?? '').split(/[;；] ?/).filter(Boolean).map((step, i) => `${i + 1}. ${step}`).join('\n');
      cases.push({ path: [...way, name.slice(2)].join('/'), body });
    } else {
      way.push(name);
      suites.push(way.join('/'));
    }
  }
  return { name: chineseNow ? '网上商店' : 'Web shop', suites, cases };
}
