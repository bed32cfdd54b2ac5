/**
 * Letters of other alphabets that look like a Latin one, in their small form. A capital is in the table only if it looks like another letter
 * than its small form does.
 * Source: UTS 39, confusables.txt, its letters of the Basic Multilingual Plane that are written from left to right. The small palochka looks like
 * `l`, as its capital does there, because impostors of domains use it so.
 */
const lookAlikes: Readonly<Record<string, string>> = {
  a: 'ɑαаᗅꓮꭺ',
  b: 'ƅβвьᏼᑲᖯᗷꓐꞵꮟ',
  c: 'сᴄⲥꓚꮯ',
  d: 'ԁᑯᗞᗪꓒꓓꭰꮷ',
  e: 'εеҽⴹꓰꬲꭼ',
  f: 'ϝքᖴẝꓝꞙꬵ',
  g: 'ƍɡԍցᏻᶃꓖꮐ',
  h: 'ηнһհᕼⲏꓧꮋꮒ',
  i: 'ɩɪιіꙇꭵ',
  j: 'ʝϳјᒍꓙꭻ',
  k: 'κкᛕⲕꓗꮶ',
  l: 'ǀӏᒪᛁⲓⳑⵏꓡꓲꮮ',
  m: 'μϻмᗰᛖⲙꓟꮇ',
  n: 'Νոռⲛꓠ',
  o: 'οσоօଠഠဝჿዐᴏᴑⲟⵔꓳꬽ',
  p: 'ρрᑭⲣꓑꮲ',
  q: 'ԛգզⵕ',
  r: 'ʀгᖇᴦⲅꓣꭇꭈꭱꮁꮢ',
  s: 'ƽѕտꓢꜱꮥꮪ',
  t: 'τтⲧꓔꭲ',
  u: 'ʋυսሀᑌᴜꓴꞟꭎꭒ',
  v: 'νѵᐯᴠⴸꓦꛟꮩ',
  w: 'ɯѡԝաᴡꓪꮃꮤ',
  x: 'χхᕁᕽᚷⲭⵝꓫꭓ',
  y: 'ɣʏΥγуүყᶌỿⲩꓬꭚꭹꮍ',
  z: 'ζᴢꓜꮓ',
}

const latin = new Map(Object.entries(lookAlikes).flatMap(([letter, others]) => [...others].map((one) => [one, letter])))

/** Replaces letters that look like a Latin one by it, also below accents. The text is decomposed then. */
export const toLatinLookAlikes = (text: string): string =>
  text.normalize('NFKD').replaceAll(/[^\0-\u{7f}]/gu, (one) => latin.get(one) ?? one)
