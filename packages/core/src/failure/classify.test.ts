import { codesAndWords, failures } from '@keyrail/vectors'
import type { FailureCase } from '@keyrail/vectors'
import { describe, expect, test } from 'vitest'
import { readAnswer } from '../message/readAnswer.ts'
import { ACCEPTED_GROWTH, costGrowth } from '../../test/costGrowth.ts'
import table from './classification.json' with { type: 'json' }
import { classify } from './classify.ts'
import type { Rule, Section } from './classify.ts'
import { createFailure } from './createFailure.ts'
import type { Facts } from './facts.ts'

const rules = (table as readonly Section[]).flatMap((section) => section.rules)
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

describe('a code with one meaning', () => {
  const { codes, methods, sentences, words } = codesAndWords
  const grid = Object.entries(codes).flatMap(([code, kind]) =>
    words.map((word) => ({ code: Number(code), kind, word })),
  )

  test.each(grid)('$code is $kind, also with the word "$word"', ({ code, kind, word }) => {
    for (const method of methods)
      for (const sentence of sentences) {
        const text = sentence.replace('WORD', word)
        const facts = { status: 200, text, rpcError: { code, message: text } }
        const failure = createFailure(facts, { method, label: 'https://node.example/v2/…' })
        expect(failure, `${method}: ${text}`).toMatchObject({ kind, retryable: false })
      }
  })
})

describe('the table', () => {
  const judged = cases
    .map((vector) => ({ facts: factsOf(vector), method: vector.request.method }))
    .filter(({ facts }) => !facts.kind)
    .map((seen) => ({ ...seen, rule: classify(seen.facts, seen.method) }))

  const changes = (changed: readonly Rule[]): boolean =>
    judged.some(({ facts, method, rule }) => classify(facts, method, changed)?.kind !== rule?.kind)

  test('holds kinds and conditions that are known, and regexes that JavaScript and Python both read', () => {
    for (const { kind, when } of rules) {
      expect(kind).toMatch(/^[a-z][A-Za-z]+$/)
      expect(Object.keys(when).length).toBeGreaterThan(0)
      for (const [name, want] of Object.entries(when)) {
        if (name === 'status' || name === 'code') expect((want as number[]).every(Number.isInteger)).toBe(true)
        else if (name === 'phrases') {
          // As classify reads a text: lower case, words separated by one space.
          for (const phrase of want as string[]) expect(phrase).toMatch(/^[a-z0-9_]+( [a-z0-9_]+)*$/)
          expect(new Set(want as string[]).size).toBe((want as string[]).length)
        } else if (name === 'batch') expect(typeof want).toBe('boolean')
        else if (name === 'source') expect(['rpc', 'http']).toContain(want)
        else {
          expect(['text', 'method', 'reason']).toContain(name)
          expect(() => new RegExp(String(want), 'i')).not.toThrow()
          // No lookbehind (old Safari), no named groups or flags inside (spelled differently), no \d-like classes beyond the shared ones.
          expect(want).not.toMatch(/\(\?(?!:)|\\[^wdsbn"/.]/)
        }
      }
    }
  })

  test.each(rules.map((rule, index) => ({ rule, title: `${index + 1} ${rule.kind} ${JSON.stringify(rule.when)}` })))(
    'reaches, and needs, rule $title',
    ({ rule }) => {
      expect(judged.filter((seen) => seen.rule === rule)).not.toEqual([])
      expect(changes(rules.filter((other) => other !== rule))).toBe(true)
    },
  )

  test('needs every alternative of every rule', () => {
    const needless: string[] = []
    for (const rule of rules)
      for (const [name, want] of Object.entries(rule.when)) {
        const parts =
          typeof want === 'string' ? alternatives(want) : Array.isArray(want) ? (want as (number | string)[]) : []
        if (parts.length < 2) continue
        for (const part of parts) {
          const rest = parts.filter((other) => other !== part)
          const when = { ...rule.when, [name]: typeof want === 'string' ? rest.join('|') : rest }
          if (!changes(rules.map((other) => (other === rule ? { ...rule, when } : other))))
            needless.push(`${rule.kind}: ${part}`)
        }
      }
    expect(needless).toEqual([])
  })

  test('reaches every kind that a server can cause', () => {
    const kinds =
      'auth badResponse batchTooLarge forbidden invalidRequest lagging methodUnavailable missingData quota range revert throttled timeout txKnown txRejected unavailable unknown wrongNetwork'
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
