import type { Transport } from '../transport/transport.ts'
import { createSubscription } from './createSubscription.ts'
import type { ReadBlock } from './getNodeSubscriptions.ts'
import type { SubscriptionOptions } from './subscription.ts'

/** Passes a header on. The promise is fulfilled when the next one may be passed on. */
export type ReportHeader = (header: unknown, readBlock: ReadBlock) => Promise<void>

/** The first read of a block. It shows that the blocks are needed, and in which form. */
interface FirstRead {
  readonly transactions: 'hashes' | 'full'
  readonly complete: (block: unknown) => void
  readonly fail: (error: unknown) => void
  /** The position before the block. */
  readonly cursor: string
  /** Fulfilled when the next header may be reported. */
  readonly reported: Promise<void>
}

/**
 * Reports the headers of new blocks. If a block is read while its header is reported, the subscription continues with whole blocks from that one, so
 * that this block and all that follow are those of the subscription, through failures too.
 *
 * @param transport - Sends the calls.
 * @param options - `cursor` is the position to start at.
 * @param report - Receives the headers.
 */
export async function followHeads(
  transport: Transport,
  options: SubscriptionOptions & { readonly cursor: string },
  report: ReportHeader,
): Promise<void> {
  const first = await reportHeaders(transport, options, report)
  if (!first) return
  const { transactions, cursor, reported } = first
  try {
    let isFirst = true
    for await (const event of createSubscription(transport, { blocks: { transactions } }, { ...options, cursor })) {
      if (event.type !== 'block') continue
      if (isFirst) {
        isFirst = false
        first.complete(event.block)
        await reported
      } else await report(event.header, () => Promise.resolve(event.block))
    }
  } catch (error) {
    first.fail(error)
    throw error
  }
}

/** Reports headers until a block is read. */
async function reportHeaders(
  transport: Transport,
  options: SubscriptionOptions & { readonly cursor: string },
  report: ReportHeader,
): Promise<FirstRead | undefined> {
  const headers = createSubscription(transport, { blocks: true }, options)
  let { cursor } = options
  for await (const event of headers) {
    if (event.type === 'block') {
      const reads: Pick<FirstRead, 'transactions' | 'complete' | 'fail'>[] = []
      const reported = report(
        event.header,
        (transactions) => new Promise((complete, fail) => reads.push({ transactions, complete, fail })),
      )
      if (reads[0]) return { ...reads[0], cursor, reported }
      await reported
    }
    cursor = headers.cursor()
  }
  return undefined
}
