const all: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** A wait for the end that somebody asks for. */
export interface Stop {
  /** Settles with the signal that asked. */
  readonly asked: Promise<NodeJS.Signals>
  /** Stops listening. */
  readonly forget: () => void
}

/**
 * Listens for Ctrl-C and similar signals. The first asks for an orderly stop; the second ends the process at once
 * (its nodes and its temporary folder go with it).
 *
 * @param signals - Which signals ask. @default SIGINT, SIGTERM, SIGHUP
 * @param hurry - Called at each further signal. If it returns true, the stop goes faster now, and the process does not end at once.
 */
export function listenForStop(signals: readonly NodeJS.Signals[] = all, hurry: () => boolean = () => false): Stop {
  let askedBefore = false
  let tell: (signal: NodeJS.Signals) => void = () => undefined
  const asked = new Promise<NodeJS.Signals>((resolve) => {
    tell = resolve
  })
  const listener = (signal: NodeJS.Signals): void => {
    if (askedBefore) {
      if (!hurry()) process.exit(130)
      return
    }
    askedBefore = true
    tell(signal)
  }
  for (const signal of signals) process.on(signal, listener)
  return {
    asked,
    forget: () => {
      for (const signal of signals) process.off(signal, listener)
    },
  }
}
