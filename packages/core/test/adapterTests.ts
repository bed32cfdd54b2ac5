import { adapters } from '@keyrail/vectors'
import type { AdapterCase } from '@keyrail/vectors'
import { describe, expect, test } from 'vitest'
import { arguedFor } from './adapters/argued.ts'
import { facesOf, runAdapterCase } from './adapters/runAdapterCase.ts'
import type { Subject } from './adapters/subject.ts'

/** Cases that run at the same time hear each other print. */
const isAlone = ({ expect: { prints } }: AdapterCase): boolean => prints !== undefined

/**
 * Groups of cases in which the transport alone decides. A library's own functions go through the same provider as its raw calls, so these
 * cases run with its functions only, unless all are asked for.
 */
const decidedByTransport: ReadonlySet<string> = new Set(['limits', 'waits', 'answers', 'connections'])

/** The faces that a case is tested with. */
const testedFaces = (oneCase: AdapterCase, everyFace: boolean): readonly ('library' | 'raw')[] => {
  const faces = facesOf(oneCase)
  const one = !everyFace && decidedByTransport.has(oneCase.group) && faces.includes('library')
  return one ? ['library'] : faces
}

/**
 * Tests that one of ours is right in every case of `adapters.json`, or as it is argued, and that no key shows in any.
 *
 * @param subject - The adapter.
 * @param options - `everyFace`: whether cases in which the transport decides run with raw calls too. @default true
 */
export function testAdapter(subject: Subject, { everyFace = true }: { readonly everyFace?: boolean } = {}): void {
  const cases = adapters.cases.filter(({ appliesTo }) => appliesTo.includes('ts'))
  const told = (alone: boolean): (readonly [string, 'library' | 'raw', AdapterCase])[] =>
    cases
      .filter((one) => isAlone(one) === alone)
      .flatMap((one) => testedFaces(one, everyFace).map((face) => [one.name, face, one] as const))
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
