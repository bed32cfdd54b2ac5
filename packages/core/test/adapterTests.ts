import { adapters } from '@keyrail/vectors'
import type { AdapterCase } from '@keyrail/vectors'
import { describe, expect, test } from 'vitest'
import { arguedFor } from './adapters/argued.ts'
import { facesOf, runAdapterCase } from './adapters/runAdapterCase.ts'
import type { Subject } from './adapters/subject.ts'

/** Cases that run at the same time hear each other print. */
const isAlone = ({ expect: { prints } }: AdapterCase): boolean => prints !== undefined

/** Tests that one of ours is right in every case of `adapters.json`, or as it is argued, and that no key shows in any. */
export function testAdapter(subject: Subject): void {
  const cases = adapters.cases.filter(({ appliesTo }) => appliesTo.includes('ts'))
  const told = (alone: boolean): (readonly [string, 'library' | 'raw', AdapterCase])[] =>
    cases
      .filter((one) => isAlone(one) === alone)
      .flatMap((one) => facesOf(one).map((face) => [one.name, face, one] as const))
  const outcomeOf = async (oneCase: AdapterCase, face: 'library' | 'raw'): Promise<object> => {
    const { problems, leaks, said } = await runAdapterCase(subject, oneCase, {
      face,
      limitMs: 60_000,
      checksMaximumTime: false,
    })
    const isWanted = String(problems) === String(arguedFor(oneCase.name, subject.name, face)?.problems ?? '')
    return { problems, leaks, ...(isWanted ? {} : { said }) }
  }
  const wanted = (name: string, face: 'library' | 'raw'): object => ({
    problems: arguedFor(name, subject.name, face)?.problems ?? [],
    leaks: [],
  })
  describe('by itself', () => {
    test.each(told(true))('%s (%s face)', async (name, face, oneCase) => {
      expect(await outcomeOf(oneCase, face)).toEqual(wanted(name, face))
    })
  })
  describe('at once', () => {
    test.concurrent.each(told(false))('%s (%s face)', async (name, face, oneCase) => {
      expect(await outcomeOf(oneCase, face)).toEqual(wanted(name, face))
    })
  })
}
