import { failures } from '@keyrail/vectors'
import type { FailureCase } from '@keyrail/vectors'
import { describe, expect, test } from 'vitest'
import { readAnswer } from '../message/readAnswer.ts'
import table from './classification.json' with { type: 'json' }
import { classify } from './classify.ts'
import { createFailure } from './createFailure.ts'
import type { Facts } from './facts.ts'

const rules: readonly string[] = table
const cases = failures.filter(({ appliesTo }) => appliesTo.includes('ts'))

const factsOf = ({ request, answer }: FailureCase): Facts => {
  const { status, headers = {}, body } = answer
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const read = readAnswer({ status, text, header: (name) => headers[name] }, { id: 1, method: request.method })
  if ('result' in read) throw new Error('the answer was taken for a result')
  return { ...read, batch: request.batch }
}

describe('the vectors', () => {
  test.each(cases)('$name', (vector) => {
    const { expect: expected, request } = vector
    const error = createFailure(factsOf(vector), { method: request.method, label: 'https://node.example/v2/…' })
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

describe('the table', () => {
  const judged = cases
    .map((vector) => ({ facts: factsOf(vector), method: vector.request.method }))
    .filter(({ facts }) => !facts.kind)
    .map((seen) => ({ ...seen, kind: classify(seen.facts, seen.method) }))

  const changes = (changed: readonly string[]): boolean =>
    judged.some(({ facts, method, kind }) => classify(facts, method, changed) !== kind)

  test('holds kinds, and regexes that JavaScript and Python both read', () => {
    for (const rule of rules) {
      const [kind, regex = '', ...more] = rule.split(': ')
      expect(kind).toMatch(/^[a-z][A-Za-z]+$/)
      expect(regex).not.toBe('')
      expect(more).toEqual([])
      expect(() => new RegExp(regex, 'i')).not.toThrow()
      // No lookbehind (old Safari), no named groups or flags inside (spelled differently), no \\d-like classes beyond the shared ones.
      expect(regex).not.toMatch(/\(\?(?![:!])|\[\^\]|\\[^wdsbn"/.]/)
    }
  })

  test.each(rules)('needs the rule %s', (rule) => {
    expect(changes(rules.filter((other) => other !== rule))).toBe(true)
  })

  test('needs every alternative of every rule', () => {
    const needless: string[] = []
    for (const rule of rules) {
      const [kind, regex = ''] = rule.split(': ')
      const parts = alternatives(regex)
      for (const part of parts.length > 1 ? parts : []) {
        const rest = `${kind}: ${parts.filter((other) => other !== part).join('|')}`
        if (!changes(rules.map((other) => (other === rule ? rest : other)))) needless.push(`${kind}: ${part}`)
      }
    }
    expect(needless).toEqual([])
  })

  test('reaches every kind that a server can cause', () => {
    const kinds =
      'auth badResponse batchTooLarge forbidden invalidRequest lagging methodUnavailable missingData quota range revert throttled timeout txKnown txRejected unavailable unknown wrongNetwork'
    expect([...new Set(cases.map(({ expect: expected }) => expected.kind))].toSorted()).toEqual(kinds.split(' '))
  })

  test('takes a long text in short time', () => {
    const text = 'block state method '.repeat(40_000)
    const before = performance.now()
    expect(classify({ text, rpcError: { code: 1, message: text, data: text } }, 'eth_call')).toBeUndefined()
    expect(performance.now() - before).toBeLessThan(500)
  })
})

/** Splits a regex at the bars that stand outside of groups. */
const alternatives = (regex: string): string[] => {
  const parts = ['']
  let depth = 0
  for (const char of regex) {
    depth += char === '(' ? 1 : char === ')' ? -1 : 0
    if (char === '|' && depth === 0) parts.push('')
    else parts[parts.length - 1] += char
  }
  return parts
}
