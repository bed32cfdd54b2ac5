// Options, hints and notes that several commands of the table share.

export const help = { type: 'boolean', about: 'show this help' } as const
export const json = { type: 'boolean', about: 'print the result as one line of JSON' } as const
export const config = {
  type: 'string',
  value: 'FILE',
  about: 'config file of the service (default: keyrail.config.json)',
} as const

/** The endpoint options, the same for every command that makes calls. */
export const endpoint = {
  'base-url': {
    type: 'string',
    value: 'URL',
    about: 'base URL of an app, up to /v2, for example http://127.0.0.1:7245/testnet (default: KEYRAIL_BASE_URL)',
  },
  'rpc-url': { type: 'string', value: 'URL', about: 'RPC URL of an API key, up to the key' },
  network: { type: 'string', value: 'NAME', about: 'name of a network, replaces {network} in the URL' },
  'key-file': {
    type: 'string',
    value: 'FILE',
    about: 'read the key from FILE (default: KEYRAIL_API_KEY, or a prompt)',
  },
  url: {
    type: 'string',
    value: 'URL',
    about: 'full URL, or the URL of a node without a key (default: KEYRAIL_URL)',
  },
} as const
export const keyHint = "keys in arguments stay in the shell's history: set KEYRAIL_API_KEY, or use --key-file FILE"
export const keyAsArgument = { 'api-key': keyHint, key: keyHint } as const

/** The options that select logs. */
export const logFilter = {
  address: {
    type: 'string',
    value: 'ADDRESS',
    about: 'contract address; repeat it or use commas for several (default: all contracts)',
  },
  event: {
    type: 'string',
    value: 'EVENT',
    about: "event signature, as 'Transfer(address,address,uint256)'; repeat it for several",
  },
  topic0: { type: 'string', value: 'TOPIC', about: 'event hash, instead of --event; use commas for several' },
  topic1: {
    type: 'string',
    value: 'TOPIC',
    about: 'first indexed parameter: 32 bytes or an address; use commas for several',
  },
  topic2: { type: 'string', value: 'TOPIC', about: 'second indexed parameter' },
  topic3: { type: 'string', value: 'TOPIC', about: 'third indexed parameter' },
} as const

/** The options of the control API. */
export const control = {
  service: {
    type: 'string',
    value: 'URL',
    about: 'URL of the dashboard (default: KEYRAIL_SERVICE_URL)',
  },
  'token-file': {
    type: 'string',
    value: 'FILE',
    about: 'read the personal access token from FILE (default: KEYRAIL_TOKEN, or a prompt)',
  },
} as const
/** The options of the actions on keys. */
export const keyActions = {
  expires: { type: 'string', value: 'TIME', about: 'create, rotate: expiry, for example 2027-01-31, or never' },
  grace: { type: 'string', value: 'DAYS', about: 'rotate: how long the old key still works, 0 to 7 (default: 0)' },
  'key-file': {
    type: 'string',
    value: 'FILE',
    about: 'create, rotate, reveal: write the key to FILE, readable by you only; rotate replaces a key file',
  },
  show: { type: 'boolean', about: 'create, rotate: print the key, and nothing else, to standard output' },
} as const
export const personal = {
  email: { type: 'string', value: 'EMAIL', about: 'reveal: email address of your account; prompts for the password' },
  'password-file': { type: 'string', value: 'FILE', about: 'reveal: read the password from FILE' },
} as const
export const tokenHint = "tokens in arguments stay in the shell's history: set KEYRAIL_TOKEN, or use --token-file FILE"
export const secretAsArgument = {
  token: tokenHint,
  password: "passwords in arguments stay in the shell's history: enter it at the prompt, or use --password-file FILE",
} as const
export const controlNotes = [
  'Create a token in the dashboard, under Account, with the scopes read and SCOPE. A new key is shown only once:\nadd --key-file or --show. reveal needs your password instead of a token.',
  'Exit codes: 0 success; 1 rejected by the service; 2 invalid usage; 3 no response.',
] as const
