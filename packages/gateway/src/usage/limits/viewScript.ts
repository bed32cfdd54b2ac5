import { forgetHeadMs } from './usageLimits.ts'
import type { CallerView, SharedView } from './usageLimits.ts'

/** Gets the Redis key of what the callers of a key have seen of a network. It is stored with the key's quota. */
export const toViewKey = ({ id }: SharedView, quota: string): string => `kr:{${quota}}:view:${id}`

/** Longer than nodes are apart, and longer than the reads after a write go to its node. */
const viewMs = 60_000

/**
 * The Lua function that merges news into a view.
 *
 * A view is text: block, when a node had it, when the last write was, its number, its node. The arguments are news: block, its age, the age of the
 * write, its number, its node. An empty age: there is none. Both decide as `createCallerViews` does.
 */
export const viewFunction = `
local function see(key, first)
  local stored = redis.call('GET', key)
  local blockAge, writeAge = tonumber(ARGV[first + 1] or ''), tonumber(ARGV[first + 2] or '')
  if not blockAge and not writeAge then return stored or '' end
  local head, at, writtenAt, write, node = 0, 0, 0, '0', ''
  if stored then head, at, writtenAt, write, node = string.match(stored, '^(%d+) (%d+) (%d+) (%d+) (.*)$') end
  head, at, writtenAt = tonumber(head), tonumber(at), tonumber(writtenAt)
  if blockAge then
    local block, shownAt = number(first), now - blockAge
    local isLater = shownAt >= at
    local isForgotten = math.abs(shownAt - at) >= ${forgetHeadMs}
    if isLater and (block >= head or isForgotten) or not isLater and block > head and not isForgotten then head, at = block, shownAt end
  end
  if writeAge and now - writeAge > writtenAt then writtenAt, write, node = now - writeAge, ARGV[first + 3], ARGV[first + 4] end
  stored = string.format('%.0f %.0f %.0f %s %s', head, at, writtenAt, write, node)
  redis.call('SET', key, stored, 'PX', ${viewMs})
  return stored
end
`

/** Converts news to the arguments of the Lua function. */
export const toNewsArguments = ({ news }: SharedView): readonly (string | number)[] => {
  const { head, write } = news ?? {}
  return [head?.block ?? 0, head?.agoMs ?? '', write?.agoMs ?? '', write?.id ?? 0, write?.node ?? '']
}

export const noNews: SharedView = { id: '', news: undefined }

/** Parses a stored view. Its times are those of Redis. */
export const parseView = (text: string, now: number): CallerView => {
  const [, block = '', at = '', writtenAt = '', id = '', node = ''] = /^(\d+) (\d+) (\d+) (\d+) (.*)$/s.exec(text) ?? []
  return {
    head: Number(at) === 0 ? undefined : { block: Number(block), agoMs: now - Number(at) },
    write: Number(writtenAt) === 0 ? undefined : { id: Number(id), node, agoMs: now - Number(writtenAt) },
  }
}
