const all: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** A wait for the end that somebody asks for. */
export interface Stop {
  /** Settles with the signal that asked. */
  readonly asked: Promise<NodeJS.Signals>
  /** Stops listening. */
  readonly forget: () => void
}

/**
 * Listens for Ctrl-C and its kin. The first asks for an orderly stop; the second ends the process at once
 * (its nodes and its temporary folder go with it).
 *
 * @param signals - Which ask. @default SIGINT, SIGTERM, SIGHUP
 */
export function untilStopped(signals: readonly NodeJS.Signals[] = all): Stop {
  let askedBefore = false
  let tell: (signal: NodeJS.Signals) => void = () => undefined
  const asked = new Promise<NodeJS.Signals>((resolve) => {
    tell = resolve
  })
  const listener = (signal: NodeJS.Signals): void => {
    if (askedBefore) process.exit(130)
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
