import { failures, fresh, heldOut, wordings } from '@keyrail/vectors'
import { expect, test } from 'vitest'
import { readResponse } from '../message/readResponse.ts'
import table from './classification.json' with { type: 'json' }
import { classify } from './classify.ts'
import type { Classification, Rule } from './rule.ts'
import { readRules } from './readRules.ts'
import { shrinkRules } from './shrinkRules.ts'

const rules = (table as Classification).sections.flatMap((section) => section.rules)

test('the rules of bundles decide every case of the vectors as those of classification.json do', () => {
  const shrunk = readRules(shrinkRules(rules))
  const indexes = { shrunk: [] as number[], full: [] as number[] }
  for (const { request, response } of [...failures, ...wordings, ...heldOut, ...fresh]) {
    const { status, headers = {}, body } = response
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const read = readResponse({ status, text, header: (name) => headers[name] }, { id: 1, method: request.method })
    if ('result' in read) continue
    const facts = { ...read, batch: request.batch }
    indexes.full.push(rules.indexOf(classify(facts, request.method, rules) as Rule))
    indexes.shrunk.push(shrunk.indexOf(classify(facts, request.method, shrunk) as Rule))
  }
  expect(indexes.full.length).toBeGreaterThan(1_500)
  expect(indexes.shrunk).toEqual(indexes.full)
})

test('the rules of bundles are shorter', () => {
  expect(shrinkRules(rules).length).toBeLessThan(0.8 * JSON.stringify(rules).length)
})

const shrink = (...phrases: string[]): unknown =>
  readRules(shrinkRules([{ kind: 'range', when: { phrases } }]))[0]?.when.phrases

test('a rule keeps its kind and its conditions', () => {
  const rule = {
    kind: 'range',
    when: { source: 'rpc', code: [-32_000, 3], batch: true, phrases: ['too large'] },
  } as const
  expect(readRules(shrinkRules([rule, { kind: 'quota', when: { status: [402] } }]))).toEqual([
    { kind: 'range', when: { source: 'rpc', code: [-32_000, 3], batch: true, phrases: 'too larg' } },
    { kind: 'quota', when: { status: [402], phrases: '' } },
  ])
})

test('a phrase keeps its gaps, numbers and ends', () => {
  expect(shrink('. limit/limits * # exceeds/exceeded .', 'blocks')).toBe('. limit * # exc .,block')
})

test('a phrase is left out if another one of the rule matches all its texts', () => {
  expect(shrink('rate exceeded', 'rate * exceeded/over')).toBe('rat * exc/over')
  expect(shrink('far too old', 'too old/low')).toBe('too old/low')
  expect(shrink('one * three', 'one two three')).toBe('one * thr')
})

test('a phrase is kept if another one matches only some of its texts', () => {
  expect(shrink('rate * exceeded', 'rate exceeded .')).toBe('rat * exc')
  expect(shrink('rate exceeded', 'rate limit')).toBe('rat exc,rat limit')
  // A gap is at most six words, and does not span the end of a sentence.
  expect(shrink('one * three', 'one * two * three')).toBe('one * thr,one * two * thr')
  expect(shrink('a * h', 'a b c d e f g h')).toBe('a * h')
  expect(shrink('a * i', 'a b c d e f g h i')).toBe('a * i,a b c d e f g h i')
  expect(shrink('a * c', 'a . c')).toBe('a * c,a . c')
})

test('a word of a phrase is left out if another phrase has it', () => {
  expect(shrink('rate limit/quota/cap', 'rate quota')).toBe('rat cap/limit,rat quota')
})

test('similar phrases are neighbors', () => {
  expect(shrink('no response', 'rate limit', 'bad response')).toBe('no respon,bad respon,rat limit')
})
