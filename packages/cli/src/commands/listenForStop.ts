const defaultSignals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** A pending request to stop. */
export interface Stop {
  /** Resolves with the first signal. */
  readonly requested: Promise<NodeJS.Signals>
  /** Removes the signal listeners. */
  readonly dispose: () => void
}

/**
 * Listens for Ctrl-C and similar signals. The first one requests a graceful stop; the second one exits the process at once, with its nodes and
 * its temporary folder.
 *
 * @param signals - The signals. @default SIGINT, SIGTERM, SIGHUP
 * @param hurry - Called for each further signal. If it returns true, the graceful stop speeds up and the process does not exit at once.
 */
export function listenForStop(
  signals: readonly NodeJS.Signals[] = defaultSignals,
  hurry: () => boolean = () => false,
): Stop {
  let isRequested = false
  let resolve: (signal: NodeJS.Signals) => void = () => undefined
  const requested = new Promise<NodeJS.Signals>((resolver) => {
    resolve = resolver
  })
  const listener = (signal: NodeJS.Signals): void => {
    if (isRequested) {
      if (!hurry()) process.exit(130)
      return
    }
    isRequested = true
    resolve(signal)
  }
  for (const signal of signals) process.on(signal, listener)
  return {
    requested,
    dispose: () => {
      for (const signal of signals) process.off(signal, listener)
    },
  }
}
