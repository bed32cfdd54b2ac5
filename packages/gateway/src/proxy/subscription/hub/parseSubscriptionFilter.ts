import type { SubscriptionLimits } from '../subscriptionHub.ts'
import { isObject, quote, RequestProblem } from './requestProblem.ts'
import type { SubscriptionFilter } from './subscriptionRequest.ts'

const address = /^0x[0-9a-f]{40}$/i
const topic = /^0x[0-9a-f]{64}$/i
const quantity = /^0x[0-9a-f]+$/i
const maxPositions = 4

/**
 * Parses the filter of a subscription to logs, as geth does: members that it does not know have no effect.
 *
 * `fromBlock` may be any number, `latest` or `earliest`, because clients send one, but it has no effect: only new logs are delivered. `toBlock` can
 * only be `latest`, and `blockHash` is rejected, because geth ignores it.
 * @throws {RequestProblem} if the filter is invalid.
 */
export const parseSubscriptionFilter = (
  given: unknown,
  { maxAddresses, maxTopics }: Pick<SubscriptionLimits, 'maxAddresses' | 'maxTopics'>,
): SubscriptionFilter => {
  if (!isObject(given)) throw new RequestProblem('logs needs a filter: use ["logs", {}] for all logs')
  checkRange(given)
  const addresses = toSorted(parseAddresses(given['address'] ?? []))
  if (addresses.length > maxAddresses)
    throw new RequestProblem(
      `"address" has ${addresses.length} addresses, more than ${maxAddresses}: use several filters`,
    )
  const topics = parseTopics(given['topics'] ?? []).map(toSorted)
  const count = topics.reduce((sum, accepted) => sum + accepted.length, 0)
  if (count > maxTopics)
    throw new RequestProblem(`"topics" has ${count} topics, more than ${maxTopics}: use several filters`)
  return { addresses, topics }
}

const toSorted = (values: readonly string[]): readonly string[] =>
  [...new Set(values.map((value) => value.toLowerCase()))].toSorted()

const checkRange = ({ blockHash, fromBlock, toBlock }: Readonly<Record<string, unknown>>): void => {
  if (blockHash != null)
    throw new RequestProblem('"blockHash" is not possible: read the logs of a block with eth_getLogs')
  const isNumber = typeof fromBlock === 'string' && quantity.test(fromBlock)
  if (fromBlock != null && fromBlock !== 'latest' && fromBlock !== 'earliest' && !isNumber)
    throw new RequestProblem(`"fromBlock" cannot be ${quote(fromBlock)}: only new logs are delivered, so remove it`)
  if (toBlock != null && toBlock !== 'latest')
    throw new RequestProblem(
      `"toBlock" cannot be ${quote(toBlock)}: remove it, and end the subscription with eth_unsubscribe`,
    )
}

const parseAddresses = (given: unknown): readonly string[] => {
  const isList = Array.isArray(given)
  return (isList ? given : [given]).map((value: unknown, index) => {
    if (typeof value === 'string' && address.test(value)) return value
    throw new RequestProblem(`"address${isList ? `[${index}]` : ''}" must be an address, "0x" and 40 hex digits`)
  })
}

const isTopic = (value: unknown): value is string => typeof value === 'string' && topic.test(value)

const parseTopics = (given: unknown): readonly (readonly string[])[] => {
  if (!Array.isArray(given) || given.length > maxPositions)
    throw new RequestProblem(
      `"topics" must be a list of at most ${maxPositions}: null, a topic or a list of topics each`,
    )
  return given.map((value: unknown, position) => {
    const accepted: readonly unknown[] = Array.isArray(value) ? value : [value]
    const topics = accepted.filter(isTopic)
    const nulls = accepted.filter((one) => one === null)
    if (topics.length + nulls.length < accepted.length)
      throw new RequestProblem(
        `"topics[${position}]" must be null, a topic ("0x" and 64 hex digits) or a list of topics`,
      )
    // A null in the list accepts every topic, as in geth.
    return nulls.length > 0 ? [] : topics
  })
}
