import { expect, test } from 'vitest'
import type { RequestsPage } from '../control/queries.ts'
import { getTailStart, mergeTail } from './mergeTail.ts'
import type { LoadedRequests } from './mergeTail.ts'

const toPage = (ids: readonly string[], next: string | null = null): RequestsPage =>
  ({ items: ids.map((id) => ({ id })), next }) as unknown as RequestsPage
const load = (...pages: readonly RequestsPage[]): LoadedRequests => ({
  pages: [...pages],
  pageParams: pages.map(() => ''),
})
const getIds = ({ pages }: LoadedRequests): string[][] => pages.map(({ items }) => items.map(({ id }) => id))

test('new requests are added in order, also those that an instance wrote late, and none twice', () => {
  const loaded = load(toPage(['log_7', 'log_5'], 'more'), toPage(['log_3']))
  const merged = mergeTail(loaded, toPage(['log_9', 'log_8', 'log_7', 'log_6', 'log_3']), 'log_7')
  expect(getIds(merged)).toEqual([['log_9', 'log_8', 'log_7', 'log_6', 'log_5'], ['log_3']])
  expect(merged.pages[0]?.next).toBe('more')
  expect(mergeTail(loaded, toPage(['log_7']), 'log_7')).toBe(loaded)
})

test('a page that does not reach the loaded requests replaces them', () => {
  const loaded = load(toPage(['log_2', 'log_1']), toPage(['log_0']))
  expect(getIds(mergeTail(loaded, toPage(['log_9', 'log_8'], 'more'), 'log_2'))).toEqual([['log_9', 'log_8']])
  // One that reaches them does not, although it has a next page.
  const reaching = mergeTail(loaded, toPage(['log_3', 'log_2'], 'more'), 'log_2')
  expect(getIds(reaching)).toEqual([['log_3', 'log_2', 'log_1'], ['log_0']])
})

test('an empty log, and one with too many live requests, load the newest page', () => {
  expect(getTailStart(load(toPage([])))).toBeUndefined()
  expect(getIds(mergeTail(load(toPage([])), toPage(['log_1']), undefined))).toEqual([['log_1']])
  const ids = Array.from({ length: 1_000 }, (_, at) => `log_${5_000 - at}`)
  expect(getTailStart(load(toPage(ids.slice(1))))).toBe('log_4999')
  expect(getTailStart(load(toPage(ids)))).toBeUndefined()
})
