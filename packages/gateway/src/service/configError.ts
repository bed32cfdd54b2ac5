/** One fault of a config. */
export interface ConfigFault {
  /** The member, such as `networks.testnet.upstreams[0].url`; empty for the whole config. */
  readonly path: string
  /** The problem and how to fix it. Contains no value of the config. */
  readonly fix: string
}

/** A config that cannot be used, with all its faults. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: readonly ConfigFault[]

  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(formatFault).join('; '))
    this.faults = faults
  }
}

/** The fault as one line of text. */
export const formatFault = ({ path, fix }: ConfigFault): string => (path === '' ? fix : `${path} ${fix}`)

/**
 * Whether an error is a {@link ConfigError}.
 * @param error - Anything that was caught.
 */
export const isConfigError = (error: unknown): error is ConfigError => error instanceof ConfigError

/** The config error for a file that a setting names and that cannot be read. */
export const unreadableFile = (path: string, error: unknown): ConfigError => {
  const reason = getErrorCode(error) ?? 'unknown error'
  return new ConfigError([
    { path, fix: `names a file that cannot be read (${reason}): check its path and its permissions` },
  ])
}

/** Node's code of a system error, such as `ENOENT`. */
export const getErrorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined
