import { codesAndWords, failures, fresh, heldOut, wordings } from '@keyrail/vectors'
import type { FailureCase } from '@keyrail/vectors'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readResponse } from '../message/readResponse.ts'
import { rejected } from '../transport/safeWrites.ts'
import { ACCEPTED_GROWTH, costGrowth } from '../../test/costGrowth.ts'
import table from './classification.json' with { type: 'json' }
import { classify } from './classify.ts'
import type { Classification, Rule } from './rule.ts'
import { createFailure } from './createFailure.ts'
import type { FailureFacts } from './failureFacts.ts'
import { isRejectedBeforeRun } from './isRejectedBeforeRun.ts'
import type { KeyrailError } from './keyrailError.ts'

const { sections } = table as Classification
/** A method of each group of the rules. */
const methods = { write: ['eth_sendRawTransaction'], call: ['eth_call'], logs: ['eth_getLogs'] } as const
const rules = sections.flatMap((section) => section.rules)
const forTypeScript = ({ appliesTo }: FailureCase): boolean => appliesTo.includes('ts')
const cases = failures.filter(forTypeScript)
const firstHalf = wordings.filter(forTypeScript).filter(({ half }) => half === 'first')
const secondHalf = wordings.filter(forTypeScript).filter(({ half }) => half === 'second')

const toFacts = ({ request, response }: FailureCase): FailureFacts => {
  const { status, headers = {}, body } = response
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const read = readResponse({ status, text, header: (name) => headers[name] }, { id: 1, method: request.method })
  if ('result' in read) throw new Error('the response was read as a result')
  return { ...read, batch: request.batch }
}

const toFailure = (vector: FailureCase): KeyrailError =>
  createFailure(toFacts(vector), { method: vector.request.method, redactedUrl: 'https://node.example/v2/…' })

describe('the vectors', () => {
  test.each([...cases, ...firstHalf])('$name', (vector) => {
    const { expect: expected } = vector
    const error = toFailure(vector)
    const { kind, source, retryable, retryAfterMs } = error
    expect({ kind, source, retryable, retryAfterMs }).toEqual({
      kind: expected.kind,
      source: expected.source,
      retryable: expected.retryable,
      retryAfterMs: expected.retryAfterMs,
    })
    if (expected.rpcError) expect(error.rpcError).toEqual(expected.rpcError)
    for (const part of expected.messageHolds ?? []) expect(error.message).toContain(part)
    for (const part of expected.messageLacks ?? []) expect(error.message).not.toContain(part)
  })
})

/** Whether safe writes reports that the transaction did not arrive: the failure itself proves it, or the node rejects the transaction. */
const isFinal = (failure: KeyrailError): boolean => isRejectedBeforeRun(failure) || rejected.includes(failure.kind)

describe('wordings of providers for which no rule was written', () => {
  const results = secondHalf.map((vector) => ({ vector, error: toFailure(vector) }))
  const share = (right: number): number => right / results.length

  test('at least 95 % are of the right kind', () => {
    const wrong = results
      .filter(({ vector, error }) => error.kind !== vector.expect.kind)
      .map(({ vector, error }) => `${vector.name}: ${error.kind}, not ${vector.expect.kind}`)
    const kinds = share(results.length - wrong.length)
    console.log(`second half: ${(100 * kinds).toFixed(1)} % of ${results.length} kinds`)
    expect(kinds, wrong.join('\n')).toBeGreaterThanOrEqual(0.95)
  })

  test('at least 97 % are retried if they should be, and only then', () => {
    const right = results.filter(({ vector, error }) => error.retryable === vector.expect.retryable)
    expect(share(right.length)).toBeGreaterThanOrEqual(0.97)
  })
})

test('wordings that no rule was written for, collected afterwards, are of the right kind at least as often as measured', () => {
  const results = heldOut.map((vector) => ({ vector, error: toFailure(vector) }))
  const share = (isRight: (result: (typeof results)[number]) => boolean): number =>
    results.filter(isRight).length / results.length
  const kinds = share(({ vector, error }) => error.kind === vector.expect.kind)
  const retryable = share(({ vector, error }) => error.retryable === vector.expect.retryable)
  const percent = (part: number): string => `${(100 * part).toFixed(1)} %`
  console.log(`held out: ${percent(kinds)} of ${results.length} kinds, ${percent(retryable)} of retries`)
  expect(kinds).toBeGreaterThanOrEqual(0.64)
  expect(retryable).toBeGreaterThanOrEqual(0.89)
})

describe('fresh failures of clients and providers that no rule knew', () => {
  const measure = (half: 'first' | 'second'): { kinds: number; retryable: number } => {
    const results = fresh
      .filter((vector) => vector.half === half)
      .map((vector) => ({ vector, error: toFailure(vector) }))
    const share = (isRight: (result: (typeof results)[number]) => boolean): number =>
      results.filter(isRight).length / results.length
    const kinds = share(({ vector, error }) => error.kind === vector.expect.kind)
    const retryable = share(({ vector, error }) => error.retryable === vector.expect.retryable)
    const percent = (part: number): string => `${(100 * part).toFixed(1)} %`
    console.log(`fresh, ${half} half: ${percent(kinds)} of ${results.length} kinds, ${percent(retryable)} of retries`)
    return { kinds, retryable }
  }

  test('of the half that rules were written for, at least as many are right as measured', () => {
    const { kinds, retryable } = measure('first')
    expect(kinds).toBeGreaterThanOrEqual(0.93)
    expect(retryable).toBeGreaterThanOrEqual(0.96)
  })

  // The goal for kinds was 86 %. Nobody may write a rule for this half: move the case to wordings.json first, and collect another.
  test('of the half that nobody wrote a rule for, at least as many are right as measured', () => {
    const { kinds, retryable } = measure('second')
    expect(kinds).toBeGreaterThanOrEqual(0.84)
    expect(retryable).toBeGreaterThanOrEqual(0.97)
  })
})

test('no write that may have arrived is reported as final', () => {
  const final = [...cases, ...wordings, ...heldOut, ...fresh]
    .filter(({ expect: { mayHaveArrived } }) => mayHaveArrived)
    .map((vector) => ({ name: vector.name, failure: toFailure(vector) }))
    .filter(({ failure }) => isFinal(failure))
    .map(({ name, failure }) => `${name}: ${failure.kind}`)
  expect(final).toEqual([])
})

describe('a code with one meaning', () => {
  const { codes, methods: gridMethods, sentences, words } = codesAndWords
  const grid = Object.entries(codes).flatMap(([code, kind]) =>
    words.map((word) => ({ code: Number(code), kind, word })),
  )

  test.each(grid)('$code is $kind, also with the word "$word"', ({ code, kind, word }) => {
    for (const method of gridMethods)
      for (const sentence of sentences) {
        const text = sentence.replace('WORD', word)
        const facts = { status: 200, text, rpcError: { code, message: text } }
        const failure = createFailure(facts, { method, redactedUrl: 'https://node.example/v2/…' })
        expect(failure, `${method}: ${text}`).toMatchObject({ kind, retryable: false })
      }
  })
})

describe('phrases', () => {
  const phrases = rules.flatMap((rule) => (rule.when.phrases ?? []).map((phrase) => ({ phrase, rule })))
  /** A text that contains the phrase: the first of its alternatives, and a made-up word for each gap. */
  const toText = (phrase: string): string =>
    phrase
      .split(' ')
      .map((element) => (element === '*' ? 'zz' : (element.split('/')[0] ?? '')))
      .join(' ')
      .replace(/#/g, '17')

  test.each(phrases)('"$phrase" is found in a text with its words, in any case and wrapped', ({ phrase, rule }) => {
    const [method = 'eth_getBalance'] =
      rule.when.method === 'read' || !rule.when.method ? [] : methods[rule.when.method]
    const code = rule.when.code?.[0] ?? -31_999
    const facts = { batch: rule.when.batch, status: rule.when.status?.[0] ?? 200 }
    const only = { ...rule, when: { ...rule.when, phrases: [phrase] } }
    const text = toText(phrase)
    // A phrase with "." has to be the whole sentence.
    const wrapped = phrase.includes('.') ? [text] : [text, text.toUpperCase(), `request failed with: "${text}", id 17`]
    for (const message of wrapped) {
      const rpcError = rule.when.source === 'http' ? undefined : { code, message }
      expect(classify({ ...facts, text: message, rpcError }, method, [only]), message).toBe(only)
    }
  })

  test('a phrase in the reason of a revert does not decide', () => {
    for (const { phrase } of phrases) {
      const text = `execution reverted: ${toText(phrase)}`
      for (const code of [3, -32000, -32603])
        expect(classify({ text, status: 200, rpcError: { code, message: text } }, 'eth_call')?.kind, text).toBe(
          'revert',
        )
    }
  })

  test('a word of a phrase does not decide in another sentence', () => {
    // Words that have no other meaning in this field.
    const alone = new Set(
      phrases.filter(({ phrase }) => !phrase.includes(' ')).flatMap(({ phrase }) => phrase.split('/')),
    )
    expect([...alone].toSorted()).toMatchInlineSnapshot(`
      [
        "blacklisted",
        "econnrefused",
        "econnreset",
        "enotfound",
        "eof",
        "epipe",
        "etimedout",
        "goaway",
        "keccak",
        "lookback",
        "overdraft",
        "overloaded",
        "panic",
        "quota",
        "rps",
        "saturated",
        "sidecar",
        "temporarily",
        "throttled",
        "throttling",
        "timeout",
        "unauthenticated",
        "unauthorized",
        "underpriced",
        "unhealthy",
        "unreachable",
      ]
    `)
    const words = phrases.flatMap(({ phrase }) => phrase.split(/[ /]/)).filter((word) => /^[a-z]+$/.test(word))
    for (const word of new Set(words)) {
      if (alone.has(word)) continue
      const text = `Alice gave ${word} and Bob drank tea`
      for (const method of ['eth_getBalance', 'eth_getLogs', 'eth_call'])
        expect(classify({ text, status: 200, rpcError: { code: -32000, message: text } }, method)?.kind, text).toBe(
          undefined,
        )
      const kind = classify(
        { text, status: 200, rpcError: { code: -32000, message: text } },
        'eth_sendRawTransaction',
      )?.kind
      expect(kind, text).toBe('unconfirmed')
    }
  })

  test('the words of a failed connection under any code do not make a write final', () => {
    const failures = [
      '502 Bad Gateway',
      'EOF',
      'connection refused',
      'read ECONNRESET',
      'upstream returned 500',
      'sequencer lost',
    ]
    for (const message of failures)
      for (const code of [-32000, -32603, -32005, 1, 3_000]) {
        const facts = { text: message, status: 200, rpcError: { code, message } }
        const failure = createFailure(facts, {
          method: 'eth_sendRawTransaction',
          redactedUrl: 'https://node.example/v2/…',
        })
        expect(isFinal(failure), `${code} ${message}`).toBe(false)
      }
  })

  test('a write whose error names nothing is never final', () => {
    const word = fc.constantFrom('alpha', 'node', 'upstream', 'said', 'failed', 'path', 'x1', 'sequencer', 'broadcast')
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), fc.constantFrom(-32000, -32603, -39999, 0, 1), (words, code) => {
        const message = words.join(' ')
        const failure = createFailure(
          { text: message, status: 200, rpcError: { code, message } },
          { method: 'eth_sendRawTransaction', redactedUrl: 'https://node.example/v2/…' },
        )
        expect(isFinal(failure)).toBe(false)
      }),
    )
  })
})

describe('the table', () => {
  const classified = [...cases, ...wordings, ...fresh.filter(({ half }) => half === 'first')]
    .map((vector) => ({ facts: toFacts(vector), method: vector.request.method }))
    .filter(({ facts }) => !facts.kind)
    .map((seen) => ({ ...seen, rule: classify(seen.facts, seen.method) }))

  test('has known kinds and conditions', () => {
    for (const { kind, when } of rules) {
      expect(kind).toMatch(/^[a-z][A-Za-z]+$/)
      expect(Object.keys(when).length).toBeGreaterThan(0)
      for (const [name, want] of Object.entries(when)) {
        expect('reason status code phrases method batch source revertData'.split(' ')).toContain(name)
        if (!Array.isArray(want)) continue
        expect(want.length).toBeGreaterThan(0)
        expect(new Set(want).size).toBe(want.length)
      }
      for (const phrase of when.phrases ?? []) expect(phrase).toMatch(/^(\.|\*|#|[a-z/]+)( (\.|\*|#|[a-z\d/#]+))*$/)
    }
  })

  test.each(rules.map((rule, index) => ({ rule, title: `${index + 1} ${rule.kind}` })))(
    'reaches, and needs, rule $title',
    ({ rule }) => {
      const decided = classified.filter((seen) => seen.rule === rule)
      expect(decided).not.toEqual([])
      // The reasons of the service decide, not its messages, because messages may change.
      if (rule.when.reason) return
      const others: readonly Rule[] = rules.filter((other) => other !== rule)
      expect(decided.some(({ facts, method }) => classify(facts, method, others)?.kind !== rule.kind)).toBe(true)
    },
  )

  test('reaches every kind that a server can cause', () => {
    const kinds =
      'auth badResponse batchTooLarge forbidden invalidRequest lagging methodUnavailable missingData quota range revert throttled timeout txKnown txRejected unavailable unconfirmed unknown wrongNetwork'
    expect([...new Set(cases.map(({ expect: expected }) => expected.kind))].toSorted()).toEqual(kinds.split(' '))
  })

  test('takes time linear in the length of a text', () => {
    const growth = costGrowth(4_000, (size) => {
      const text = 'block state method '.repeat(size)
      return () =>
        expect(classify({ text, rpcError: { code: 1, message: text, data: text } }, 'eth_call')).toBeUndefined()
    })
    expect(growth).toBeLessThan(ACCEPTED_GROWTH)
  })
})
