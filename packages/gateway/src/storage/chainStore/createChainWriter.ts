import { startOfUtcDay } from '../../lib/utcDay.ts'
import type { ChainFile } from './chainFile.ts'
import type { ReadRows } from './createChainReader.ts'
import { createAnswerWriter } from './createAnswerWriter.ts'
import type { AnswerWriter, ConfirmedLogs, LogAnswer, StoredAnswer } from './createAnswerWriter.ts'
import { createChainUpkeep } from './createChainUpkeep.ts'
import type { ChainUpkeep } from './createChainUpkeep.ts'
import { readStoredCall } from './storedCall.ts'
import type { EntryAnswer, UnconfirmedEntry } from './createEntryTable.ts'
import { createFileRows } from './createFileRows.ts'
import type { AnswerSource } from './answerSource.ts'
import { pickRanges } from './pickRanges.ts'
import type { ConfirmOptions, UnconfirmedLogs } from './pickRanges.ts'

export type { AnswerSource, ConfirmedLogs, EntryAnswer, LogAnswer, StoredAnswer }

/** The functions of the thread that writes. */
export interface ChainWriter extends ChainUpkeep, Pick<AnswerWriter, 'addLogs' | 'addEntry' | 'confirm'> {
  readonly noteRows: (rows: ReadRows) => void
  /** Chooses ranges to confirm: those of the longest wait, and others with the same topics, in one query. */
  readonly pickUnconfirmed: (source: AnswerSource, options: ConfirmOptions) => UnconfirmedLogs | undefined
  /** Chooses results of a node that another one should confirm: in their order, after the one with this number. */
  readonly pickEntries: (
    source: AnswerSource,
    options: { readonly after: number; readonly count: number },
  ) => readonly UnconfirmedEntry[]
}

/** Creates the functions that write a file. @param options.now - Milliseconds since 1970. */
export const createChainWriter = (
  file: ChainFile,
  { maxBytes, now = Date.now }: { readonly maxBytes: number; readonly now?: () => number },
): ChainWriter => {
  const rows = createFileRows(file)
  const { addLogs, addEntry, confirm, spans, unconfirmed } = createAnswerWriter(rows, { now })
  return {
    addLogs,
    addEntry,
    confirm,
    noteRows: ({ damaged, used }) => {
      for (const { key, last } of damaged)
        if (last === undefined) rows.entries.delete(key)
        else spans.removeDamaged(key, last)
      const today = startOfUtcDay(now())
      for (const row of used) rows.use(row, today)
    },
    pickUnconfirmed: (from, { maxBlocks, waitMs, after = 0, ageMs }) => {
      const source = rows.findSource(from)
      if (source === undefined) return undefined
      const oldest = rows.selectOldest(source, { after, until: now() - ageMs })
      return pickRanges(unconfirmed.filterIntact(oldest), { maxBlocks, waitMs, upstream: from.upstream, now: now() })
    },
    pickEntries: (from, { after, count }) => {
      const source = rows.findSource(from)
      if (source === undefined) return []
      const found: UnconfirmedEntry[] = []
      for (const { number, id, block, call: text } of rows.selectCalls(source, after, count)) {
        const call = readStoredCall(text, { chain: from.chain, isKey: (own) => rows.toKey(own).equals(id) })
        if (call === undefined) rows.entries.delete(id)
        else found.push({ number, call, block })
      }
      return found
    },
    ...createChainUpkeep(file, { spans, unconfirmed }, maxBytes),
  }
}
