import { adapters } from '@keyrail/vectors'
import type { AdapterCase } from '@keyrail/vectors'
import { describe, expect, test } from 'vitest'
import { findAcceptedProblem } from './adapters/acceptedProblems.ts'
import { getApis, runAdapterCase } from './adapters/runAdapterCase.ts'
import type { Subject } from './adapters/subject.ts'

/** Cases that check the console must not run at the same time as others, whose output they would record. */
const needsToRunAlone = ({ expect: { prints } }: AdapterCase): boolean => prints !== undefined

/**
 * Groups of cases whose result depends on the transport alone. A library's own functions and its raw requests use the same provider, so these
 * cases run with its functions only, unless `allApis` is set.
 */
const transportGroups: ReadonlySet<string> = new Set(['limits', 'waits', 'responses', 'connections'])

/** Returns the APIs to run a case with. */
const getTestedApis = (oneCase: AdapterCase, allApis: boolean): readonly ('library' | 'raw')[] => {
  const apis = getApis(oneCase)
  const one = !allApis && transportGroups.has(oneCase.group) && apis.includes('library')
  return one ? ['library'] : apis
}

/**
 * Tests an adapter of Keyrail with every case of `adapters.json`: it has no problems except the accepted ones, and leaks no key.
 *
 * @param subject - The adapter.
 * @param options - `allApis`: whether the cases that depend on the transport alone run with raw requests too. @default true
 */
export function testAdapter(subject: Subject, { allApis = true }: { readonly allApis?: boolean } = {}): void {
  const cases = adapters.cases.filter(({ appliesTo }) => appliesTo.includes('ts'))
  const getTests = (alone: boolean): (readonly [string, 'library' | 'raw', AdapterCase])[] =>
    cases
      .filter((one) => needsToRunAlone(one) === alone)
      .flatMap((one) => getTestedApis(one, allApis).map((api) => [one.name, api, one] as const))
  const runCase = async (oneCase: AdapterCase, api: 'library' | 'raw'): Promise<object> => {
    const { problems, leaks, messages } = await runAdapterCase(subject, oneCase, {
      api,
      limitMs: 60_000,
      checksMaximumTime: false,
    })
    const isExpected = String(problems) === String(findAcceptedProblem(oneCase.name, subject.name, api)?.problems ?? '')
    return { problems, leaks, ...(isExpected ? {} : { messages }) }
  }
  const getExpected = (name: string, api: 'library' | 'raw'): object => ({
    problems: findAcceptedProblem(name, subject.name, api)?.problems ?? [],
    leaks: [],
  })
  describe('one at a time', () => {
    test.each(getTests(true))('%s (%s API)', async (name, api, oneCase) => {
      expect(await runCase(oneCase, api)).toEqual(getExpected(name, api))
    })
  })
  describe('concurrently', () => {
    test.concurrent.each(getTests(false))('%s (%s API)', async (name, api, oneCase) => {
      expect(await runCase(oneCase, api)).toEqual(getExpected(name, api))
    })
  })
}
