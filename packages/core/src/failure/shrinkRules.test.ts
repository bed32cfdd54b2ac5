import { failures, fresh, heldOut, wordings } from '@keyrail/vectors'
import { expect, test } from 'vitest'
import { readResponse } from '../message/readResponse.ts'
import table from './classification.json' with { type: 'json' }
import { classify } from './classify.ts'
import type { Classification, Rule } from './classify.ts'
import { shrinkRules } from './shrinkRules.ts'

const rules = (table as Classification).sections.flatMap((section) => section.rules)

test('the rules of bundles decide every case of the vectors as those of classification.json do', () => {
  const shrunk = JSON.parse(JSON.stringify(shrinkRules(rules))) as readonly Rule[]
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
  expect(JSON.stringify(shrinkRules(rules)).length).toBeLessThan(0.9 * JSON.stringify(rules).length)
})

test('a phrase keeps its gaps, numbers and ends', () => {
  expect(
    shrinkRules([{ kind: 'range', when: { phrases: ['. limit/limits * # exceeds/exceeded .', 'blocks'] } }]),
  ).toEqual([{ kind: 'range', when: { phrases: '. limit * # exc .,block' } }])
})
