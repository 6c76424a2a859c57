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
    - register a passkey
    - lost device
  Two factors
    - code of yesterday
    - backup codes
  Single sign-on
Search
  Filters
    - price from and to
    - nothing found
  Spelling
    - one letter too many | Search for “shooes”; The page shows shoes, and says so
  Ranking
Basket
  Quantities
    - zero removes the line
    - more than in stock
  Vouchers
    - two vouchers at once
    - voucher of last year
  Kept for later
Checkout
  Delivery
    Addresses
      - without a house number
      - to a packing station
    Time slots
  Payment
    Card
      - declined by the bank
      - 3-D Secure is cancelled
    Invoice
    Instalments
      - rounding of the last one
  Taxes
    - reverse charge
Orders
  History
  Returns
    - after thirty days
    - half of an order
  Mails
    - confirmation in the buyer's language
Operations
  Load
    - ten thousand baskets
  Failure
    - payment service is down
    - database fails over
  Accessibility
    - the keyboard alone
    - a screen reader reads prices
`;
const chinese = `
登录
  密码
    - 密码错误 | 打开登录页面；输入已知的邮箱和错误的密码；页面提示两者不匹配，但不说明哪一个错了
    - 十次失败后锁定 | 连续输错十次密码；第十一次即使密码正确也被拒绝；邮件说明接下来怎么做
  通行密钥
    - 注册通行密钥
    - 设备丢失
  两步验证
    - 昨天的验证码
    - 备用验证码
  单点登录
搜索
  筛选
    - 价格区间
    - 没有结果
  拼写
    - 多打了一个字 | 搜索“运运动鞋”；页面显示运动鞋，并加以说明
  排序
购物车
  数量
    - 数量为零时移除
    - 超过库存
  优惠券
    - 同时使用两张
    - 去年的优惠券
  稍后购买
结算
  配送
    地址
      - 没有门牌号
      - 送到快递柜
    时段
  支付
    银行卡
      - 被银行拒绝
      - 取消 3-D 验证
    发票
    分期
      - 最后一期的舍入
  税费
    - 反向征税
订单
  历史
  退货
    - 超过三十天
    - 退一半
  邮件
    - 使用买家的语言
运维
  负载
    - 一万个购物车
  故障
    - 支付服务不可用
    - 数据库切换
  无障碍
    - 只用键盘
    - 读屏软件朗读价格
`;

/** The demo plan in the language of the page, as the importer takes it. */
export function demo() {
  const chineseNow = lang() === 'zh-CN';
  const way = [], items = [];
  for (const line of (chineseNow ? chinese : english).trim().split('\n')) {
    const depth = (line.length - line.trimStart().length) / 2, [name, steps] = line.trim().split(' | ');
    way.length = depth;
    if (name.startsWith('- ')) {
      const body = (steps ?? '').split(/[;；] ?/).filter(Boolean).map((step, i) => `${i + 1}. ${step}`).join('\n');
      items.push({ case: { path: [...way, name.slice(2)].join('/'), body } });
    } else {
      way.push(name);
      items.push({ suite: way.join('/') });
    }
  }
  return { name: chineseNow ? '网上商店' : 'Web shop', items };
}
