import type { NodeCheck } from '@keyrail/gateway'
import { formatTable } from './formatTable.ts'
import type { Style } from './style.ts'

/**
 * Formats what the nodes of a config responded, one line for each URL.
 *
 * @param checks - The results.
 * @param style - The style of the output.
 */
export const formatNodeChecks = (checks: readonly NodeCheck[], style: Style): readonly string[] =>
  formatTable(
    checks.map(({ network, upstream, redactedUrl, problem }) => [
      network,
      upstream,
      redactedUrl,
      problem === undefined ? style.good('right chain') : style.bad(problem),
    ]),
  )
