import type { BlockHeader, Log, SubscribeEvent } from '@keyrail/fetch'
import { logFormats } from '../logs/logFormat.ts'
import type { Style } from '../output/style.ts'

/** An event of `keyrail watch`. */
export type WatchEvent = SubscribeEvent<{ readonly blocks: true }> | SubscribeEvent<{ readonly logs: object }>

const isLog = (one: BlockHeader | Log): one is Log => 'logIndex' in one

/** Formats a block or a log as JSON. Gas and timestamps are small enough for JSON numbers, fees in wei are not. */
function formatJson(one: BlockHeader | Log): string {
  if (isLog(one)) return logFormats.ndjson.line(one).trimEnd()
  const { number, hash, parentHash, timestamp, gasUsed, gasLimit, baseFeePerGas } = one
  return JSON.stringify({
    number: Number(number),
    hash,
    parentHash,
    timestamp: Number(timestamp),
    gasUsed: Number(gasUsed),
    gasLimit: gasLimit === undefined ? null : Number(gasLimit),
    baseFeePerGas: baseFeePerGas === undefined ? null : baseFeePerGas.toString(),
  })
}

/** Formats an event as one line of JSON. */
export function formatJsonEvent(event: WatchEvent): string {
  if (event.type === 'block') return `{"type":"block","block":${formatJson(event.block)}}`
  if (event.type === 'log') return `{"type":"log","log":${formatJson(event.log)}}`
  const { number, hash } = event.ancestor
  const removed = event.removed.map(formatJson).join(',')
  return `{"type":"reorg","ancestor":{"number":${number},"hash":"${hash}"},"removed":[${removed}]}`
}

function formatLine(one: BlockHeader | Log, style: Style): string {
  if (isLog(one)) {
    const { blockNumber, logIndex, address, topics, transactionHash } = one
    const place = style.strong(`${blockNumber}:${logIndex}`)
    return `log    ${place}  ${address}  ${topics[0] ?? 'no topics'}  ${style.faint(`tx ${transactionHash}`)}`
  }
  const { number, hash, timestamp, gasUsed, gasLimit } = one
  const time = new Date(Number(timestamp) * 1_000).toISOString().replace('.000Z', 'Z')
  const share = gasLimit ? `  gas ${(Number((gasUsed * 1_000n) / gasLimit) / 10).toFixed(1)} %` : ''
  return `block  ${style.strong(String(number))}  ${hash}  ${style.faint(`${time}${share}`)}`
}

/** Formats an event for people: a line for each block and log, and for a reorg also one for each of those that it removed. */
export function formatEvent(event: WatchEvent, style: Style): string[] {
  if (event.type === 'block') return [formatLine(event.block, style)]
  if (event.type === 'log') return [formatLine(event.log, style)]
  const { number, hash } = event.ancestor
  return [
    `${style.bad('reorg')}  back to block ${number}  ${hash}`,
    ...event.removed.map((one) => `  ${style.bad('removed')}  ${formatLine(one, style)}`),
  ]
}
