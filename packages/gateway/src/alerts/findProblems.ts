import { dayMs } from '../lib/time.ts'

/**
 * What operators get alerts about. `network`: it has no healthy node; `store`: the database or Redis is unavailable; `disk`: it is nearly full;
 * `certificate`: it expires soon; `errors`: calls fail because of nodes.
 */
export const problemKinds = ['store', 'network', 'disk', 'certificate', 'errors'] as const

/** Something that operators must act on. */
export interface Problem {
  readonly kind: (typeof problemKinds)[number]
  /** The network, the store (`database`, `redis`), what the disk holds (`database`, `chainStore`), or `service`. */
  readonly subject: string
  /** From 0 to 1: the free part of a disk, or the failed part of the calls; `null` for other kinds. */
  readonly share: number | null
  /** When the certificate expires, ISO 8601 in UTC; `null` for other kinds. */
  readonly expiresAt: string | null
}

/** The state of the service that problems are found in, as one instance sees it. */
export interface ServiceFacts {
  /** The stores that are unavailable. */
  readonly lostStores: readonly string[]
  /** The networks without a healthy node. */
  readonly networksWithoutNode: readonly string[]
  readonly disks: readonly { readonly of: string; readonly freeBytes: number; readonly totalBytes: number }[]
  /** When the certificate expires, in milliseconds since 1970; `null` without one. */
  readonly certificateEndsAt: number | null
  /** The calls of the last 5 minutes, and how many of them failed because of nodes. */
  readonly calls: { readonly total: number; readonly failed: number }
}

/** A disk with less than this share free is nearly full. */
const minFree = 0.1
const certificateMs = 14 * dayMs
const maxFailedShare = 0.05
/** Fewer calls say too little: one of one failed is no problem of the service. */
const minCalls = 20

/**
 * Finds the problems of the service, the worst first. The overview of operators shows them, and alerts report them.
 * @param now - Milliseconds since 1970.
 */
export const findProblems = (
  { lostStores, networksWithoutNode, disks, certificateEndsAt, calls }: ServiceFacts,
  now: number,
): readonly Problem[] => {
  const nothing = { share: null, expiresAt: null }
  const failedShare = calls.total < minCalls ? 0 : calls.failed / calls.total
  return [
    ...lostStores.map((subject): Problem => ({ ...nothing, kind: 'store', subject })),
    ...networksWithoutNode.map((subject): Problem => ({ ...nothing, kind: 'network', subject })),
    ...disks
      .filter(({ freeBytes, totalBytes }) => freeBytes < totalBytes * minFree)
      .map(({ of, freeBytes, totalBytes }): Problem => ({
        ...nothing,
        kind: 'disk',
        subject: of,
        share: freeBytes / totalBytes,
      })),
    ...(certificateEndsAt !== null && certificateEndsAt - now < certificateMs
      ? [
          {
            ...nothing,
            kind: 'certificate' as const,
            subject: 'service',
            expiresAt: new Date(certificateEndsAt).toISOString(),
          },
        ]
      : []),
    ...(failedShare > maxFailedShare
      ? [{ ...nothing, kind: 'errors' as const, subject: 'service', share: failedShare }]
      : []),
  ]
}
