import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foldEmail, isSameEmail, toEmailIdentity, toMailbox } from './emailIdentity.ts'
import { foldLoosely } from './foldLoosely.ts'

// Each is a line of confusables.txt (UTS 39 section 4): the source, the target, and the name of the source.
const confusables = [
  ['\u{131}', 'i', 'LATIN SMALL LETTER DOTLESS I'],
  ['\u{17f}', 'f', 'LATIN SMALL LETTER LONG S'],
  ['\u{212a}', 'K', 'KELVIN SIGN'],
  ['\u{212f}', 'e', 'SCRIPT SMALL E'],
  ['\u{2170}', 'i', 'SMALL ROMAN NUMERAL ONE'],
  ['\u{ff41}', 'a', 'FULLWIDTH LATIN SMALL LETTER A'],
  ['\u{1d41a}', 'a', 'MATHEMATICAL BOLD SMALL A'],
  ['\u{430}', 'a', 'CYRILLIC SMALL LETTER A'],
  ['\u{435}', 'e', 'CYRILLIC SMALL LETTER IE'],
  ['\u{456}', 'i', 'CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I'],
  ['\u{455}', 's', 'CYRILLIC SMALL LETTER DZE'],
  ['\u{3bf}', 'o', 'GREEK SMALL LETTER OMICRON'],
  ['\u{3b1}', 'a', 'GREEK SMALL LETTER ALPHA'],
  ['\u{251}', 'a', 'LATIN SMALL LETTER ALPHA'],
  ['\u{261}', 'g', 'LATIN SMALL LETTER SCRIPT G'],
  ['\u{1e9d}', 'f', 'LATIN SMALL LETTER LONG S WITH HIGH STROKE'],
  ['\u{fb01}', 'fi', 'LATIN SMALL LIGATURE FI'],
  ['\u{1c6}', 'dž', 'LATIN SMALL LETTER DZ WITH CARON'],
] as const

describe('toEmailIdentity', () => {
  test.each(confusables)('%s is not %s in the local part (%s)', (source, target) => {
    const [one, other] = [toEmailIdentity(`${source}n@corp.example`), toEmailIdentity(`${target}n@corp.example`)]
    expect(one).toBe(`${source}n@corp.example`)
    expect(one).not.toBe(other)
  })

  // Lines of IdnaTestV2.txt (UTS 46 section 8): the source, and toAsciiN.
  test.each([
    ['fass.de', 'fass.de'],
    ['faß.de', 'xn--fa-hia.de'],
    ['Faß.de', 'xn--fa-hia.de'],
    ['xn--fa-hia.de', 'xn--fa-hia.de'],
    ['Bücher.de', 'xn--bcher-kva.de'],
    ['Bu\u{308}cher.de', 'xn--bcher-kva.de'],
    ['BÜCHER.DE', 'xn--bcher-kva.de'],
    ['XN--BCHER-KVA.DE', 'xn--bcher-kva.de'],
    ['ÖBB', 'xn--bb-eka'],
    ['βόλος.com', 'xn--nxasmm1c.com'],
    ['ΒΌΛΟΣ.COM', 'xn--nxasmq6b.com'],
    ['日本語。ＪＰ', 'xn--wgv71a119e.jp'],
    ['日本語．JP', 'xn--wgv71a119e.jp'],
    ['☕.us', 'xn--53h.us'],
    ['not=std3', undefined],
    ['xn--a.de', undefined],
    ['xn--0.pt', undefined],
    ['xn--a-ä.pt', undefined],
    ['xn--fass-.de', undefined],
    ['a.b..c', undefined],
    ['.example', undefined],
  ])('converts the domain %j to %j', (domain, ascii) => {
    expect(toEmailIdentity(`ann@${domain}`)).toBe(ascii && `ann@${ascii}`)
  })

  test.each([
    ['a dotless i', 'gma\u{131}l.com', 'gmail.com'],
    ['Cyrillic letters', '\u{430}pple.com', 'apple.com'],
    ['a sharp s', 'stra\u{df}e.example', 'strasse.example'],
    ['a letter with an accent', 'exampl\u{e9}.org', 'example.org'],
  ])('a domain with %s is another one', (_, one, other) => {
    expect(toEmailIdentity(`victim@${one}`)).toMatch(/^victim@xn--/)
    expect(isSameEmail(`victim@${one}`, `victim@${other}`)).toBe(false)
  })

  test.each([
    ['the case of ASCII letters', 'Ann@Example.ORG', 'ann@example.org'],
    ['surrounding spaces', ' ann@example.org\n', 'ann@example.org'],
    ['the form of the domain', 'ann@BÜCHER.example', 'ann@xn--bcher-kva.example'],
  ])('ignores %s', (_, one, other) => {
    expect(isSameEmail(one, other)).toBe(true)
  })

  test.each([
    ['a letter and its composed form', 'e\u{301}@example.org', '\u{e9}@example.org'],
    ['letters outside of ASCII in another case', 'É@example.org', 'é@example.org'],
    ['a dot', 'a.nn@example.org', 'ann@example.org'],
    ['a tag', 'ann+tag@example.org', 'ann@example.org'],
    ['quotes', '"ann"@example.org', 'ann@example.org'],
    ['a subdomain', 'ann@mail.example.org', 'ann@example.org'],
  ])('distinguishes %s in the local part', (_, one, other) => {
    expect(toEmailIdentity(one)).toBeDefined()
    expect(isSameEmail(one, other)).toBe(false)
  })

  test.each([
    ['nothing', ''],
    ['no @', 'example.org'],
    ['no local part', '@example.org'],
    ['no domain', 'ann@'],
    ['two @', 'ann@evil.example@example.org'],
    ['a quoted @', '"ann@evil.example"@example.org'],
    ['a full-width @', 'ann\u{ff20}evil.example@example.org'],
    ['only a full-width @', 'ann\u{ff20}example.org'],
    ['a small @', 'ann\u{fe6b}evil.example@example.org'],
    ['a percent sign', 'ann@ex%61mple.com'],
    ['an encoded percent sign', 'ann@ex%2561mple.com'],
    ['a full-width percent sign', 'ann@ex\u{ff05}61mple.com'],
    ['an IPv4 address', 'ann@127.0.0.1'],
    ['a short IPv4 address', 'ann@127.1'],
    ['a hexadecimal IPv4 address', 'ann@0x7f.1'],
    ['a hexadecimal number', 'ann@0x7f000001'],
    ['an octal IPv4 address', 'ann@0177.0.0.1'],
    ['a decimal number', 'ann@2130706433'],
    ['a full-width IPv4 address', 'ann@１２７.０.０.１'],
    ['circled digits', 'ann@①②⑦.1'],
    ['an IPv4 address with a trailing dot', 'ann@127.0.0.1.'],
    ['an IPv6 address', 'ann@[::1]'],
    ['an address literal', 'ann@[127.0.0.1]'],
    ['an IPv6 address literal', 'ann@[IPv6:::1]'],
    ['an IPv6 address without brackets', 'ann@::1'],
    ['a numeric top-level domain', 'ann@example.1'],
    ['a trailing dot', 'ann@example.org.'],
    ['an ideographic full stop at the end', 'ann@example.org。'],
    ['an empty label', 'ann@example..org'],
    ['a leading dot', 'ann@.example.org'],
    ['only dots', 'ann@..'],
    ['a port', 'ann@example.org:25'],
    ['a full-width colon', 'ann@example.org：25'],
    ['a path', 'ann@example.org/x'],
    ['a full-width slash', 'ann@example.org／x'],
    ['a query', 'ann@example.org?x'],
    ['a fragment', 'ann@example.org#x'],
    ['a backslash', 'ann@example.org\\x'],
    ['an encoded character that is a path', 'ann@a\u{2100}.example'],
    ['a space', 'ann @example.org'],
    ['a space in the domain', 'ann@exam ple.org'],
    ['a no-break space', 'ann\u{a0}x@example.org'],
    ['a tab that URL parsers drop', 'ann@exam\tple.org'],
    ['a line break', 'ann@example.org\nbcc'],
    ['a NUL', 'ann\0@example.org'],
    ['a soft hyphen', 'ann@exam\u{ad}ple.org'],
    ['a soft hyphen in the local part', 'an\u{ad}n@example.org'],
    ['a zero-width space', 'ann@exam\u{200b}ple.org'],
    ['a zero-width joiner', 'an\u{200d}n@example.org'],
    ['a word joiner', 'an\u{2060}n@example.org'],
    ['a byte order mark', 'an\u{feff}n@example.org'],
    ['a variation selector', 'an\u{fe0f}n@example.org'],
    ['a combining grapheme joiner', 'ann@exam\u{34f}ple.org'],
    ['a Hangul filler', 'an\u{3164}n@example.org'],
    ['a right-to-left override', 'an\u{202e}n@example.org'],
    ['a left-to-right mark', 'ann@exam\u{200e}ple.org'],
    ['an isolate', 'an\u{2066}n@example.org'],
    ['a tag character', 'an\u{e0061}n@example.org'],
    ['a lone surrogate', 'an\u{d800}n@example.org'],
    ['a private character', 'an\u{e000}n@example.org'],
    ['a mark that NFKC converts to a space and a mark', 'an\u{fe72}n@example.org'],
    ['angle brackets', 'ann@<example.org>'],
    ['a comma', 'ann@example.org,evil.example'],
    ['a label that ends with a hyphen', 'ann@example-.org'],
    ['a long label', `ann@${'a'.repeat(64)}.org`],
    ['a label that is long as an A-label', `ann@${'ü'.repeat(60)}.org`],
    ['a long local part', `${'a'.repeat(65)}@example.org`],
    ['a long address', `ann@${'abcdefghi.'.repeat(25)}org`],
  ])('rejects %s', (_, email) => {
    expect(toEmailIdentity(email)).toBeUndefined()
    expect(isSameEmail(email, email)).toBe(false)
  })

  test('texts that are not addresses are never the same', () => {
    expect(isSameEmail('ann@a b', 'ann@c d')).toBe(false)
    expect(isSameEmail(undefined, undefined)).toBe(false)
    expect(isSameEmail('ann@example.org', undefined)).toBe(false)
  })

  test('an identity is its own identity, and looks like the address', () => {
    const letter = fc.constantFrom(...confusables.flatMap(([source, target]) => [source, target]), 'ü', 'ß', '.', 'A')
    const part = fc.string({ unit: letter, minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(part, part, (local, domain) => {
        const email = `${local}@${domain}.example`
        const identity = toEmailIdentity(email)
        if (identity === undefined) return
        expect(toEmailIdentity(identity)).toBe(identity)
        expect(foldEmail(identity)).toBe(foldEmail(email))
        expect(isSameEmail(toMailbox(email), email)).toBe(true)
      }),
    )
  })
})

describe('foldEmail', () => {
  test.each([
    ['adm\u{131}n@corp.example', 'admin@corp.example'],
    ['victim@gma\u{131}l.com', 'victim@gmail.com'],
    ['ann@stra\u{df}e.example', 'ann@STRASSE.example'],
    ['ann@xn--strae-oqa.example', 'ann@strasse.example'],
    ['\u{212a}im@example.org', 'kim@example.org'],
    ['\u{ff41}nn@example.org', 'ann@example.org'],
    // Lines of confusables.txt (UTS 39 section 4), alone and in whole words.
    ['\u{430}dmin@corp.example', 'admin@corp.example'],
    ['\u{410}DMIN@corp.example', 'admin@corp.example'],
    ['j\u{3bf}e@corp.example', 'joe@corp.example'],
    ['\u{455}am@corp.example', 'sam@corp.example'],
    ['l\u{456}sa@corp.example', 'lisa@corp.example'],
    ['\u{458}ane@corp.example', 'jane@corp.example'],
    ['\u{4bb}ans@corp.example', 'hans@corp.example'],
    ['\u{397}ans@corp.example', 'hans@corp.example'],
    ['\u{501}an@corp.example', 'dan@corp.example'],
    ['\u{261}us@corp.example', 'gus@corp.example'],
    ['pau\u{217c}@corp.example', 'paul@corp.example'],
    ['\u{392}ob@corp.example', 'bob@corp.example'],
    ['\u{39d}ora@corp.example', 'nora@corp.example'],
    ['i\u{3bd}an@corp.example', 'ivan@corp.example'],
    ['\u{585}tt\u{585}@corp.example', 'otto@corp.example'],
    ['\u{13aa}nn@corp.example', 'ann@corp.example'],
    ['no\u{451}l@corp.example', 'no\u{eb}l@corp.example'],
    ['\u{441}\u{43e}\u{441}\u{43e}@corp.example', 'coco@corp.example'],
    ['ann@\u{430}\u{440}\u{440}\u{4cf}\u{435}.example', 'ann@apple.example'],
    ['ann@xn--80ak6aa92e.com', 'ann@apple.com'],
  ])('%s looks like %s', (one, other) => {
    expect(foldEmail(one)).toBe(foldEmail(other))
    expect(isSameEmail(one, other)).toBe(false)
  })

  test.each([
    ['\u{438}\u{432}\u{430}\u{43d}@corp.example', '\u{418}\u{412}\u{410}\u{41d}@corp.example'],
    ['\u{430}dmin@corp.example', '\u{410}dmin@corp.example'],
  ])('%s and %s differ in case only', (one, other) => {
    expect(foldEmail(one)).toBe(foldEmail(other))
  })

  test.each([
    ['pau1@corp.example', 'paul@corp.example'],
    ['bi11@corp.example', 'bill@corp.example'],
    ['\u{436}an@corp.example', 'xan@corp.example'],
    ['no\u{eb}l@corp.example', 'noel@corp.example'],
  ])('%s does not look like %s', (one, other) => {
    expect(foldEmail(one)).not.toBe(foldEmail(other))
  })

  test('a text that is not an address is folded as it is', () => {
    expect(foldEmail('Ann@127.0.0.1')).toBe(foldLoosely('ann@127.0.0.1'))
  })
})

test('an email goes to the domain that is compared', () => {
  expect(toMailbox('Ann@BÜCHER.example')).toBe('Ann@xn--bcher-kva.example')
  expect(toMailbox('ann@\u{212a}elvin.example')).toBe('ann@kelvin.example')
  expect(toMailbox('root@127.0.0.1')).toBe('root@127.0.0.1')
})
