/** One thing that is wrong in a config. */
export interface ConfigFault {
  /** Where, as in `networks.testnet.upstreams[0].url`; empty for the whole. */
  readonly path: string
  /** What is wrong and what to write in its place. Repeats no value. */
  readonly fix: string
}

/** What is thrown for a config that cannot be used: all its faults at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: readonly ConfigFault[]

  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(({ path, fix }) => (path === '' ? fix : `${path} ${fix}`)).join('; '))
    this.faults = faults
  }
}

/**
 * Whether an error tells of a config that cannot be used.
 * @param error - Anything that was caught.
 */
export const isConfigError = (error: unknown): error is ConfigError => error instanceof ConfigError

/**
 * What a gateway throws for its options, as a fault of the config: it names an option as the config does, but for its limits.
 * @param error - Anything that was caught; what is no such thing comes back as it is.
 */
export const asConfigError = (error: unknown): unknown => {
  if (!(error instanceof TypeError)) return error
  const [, path = 'the config', fix = error.message] = /^([a-z]\w*(?:[.[][\w\].]*)?) (.*)$/.exec(error.message) ?? []
  return new ConfigError([{ path: path.replace(/^limits\./, 'bounds.'), fix }])
}
