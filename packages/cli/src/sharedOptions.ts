import { flag, option } from './arguments/command.ts'

// Options, hints and notes that several commands of the table share.

export const help = flag('show this help')
export const json = flag('print the result as one line of JSON')
export const config = option('FILE', 'config file of the service (default: keyrail.config.json)')

/** The endpoint options, the same for every command that makes calls. */
export const endpoint = {
  'base-url': option(
    'URL',
    'base URL of an app, up to /v2, for example http://127.0.0.1:7245/testnet (default: KEYRAIL_BASE_URL)',
  ),
  'rpc-url': option('URL', 'RPC URL of an API key, up to the key'),
  network: option('NAME', 'name of a network, replaces {network} in the URL'),
  'key-file': option('FILE', 'read the key from FILE (default: KEYRAIL_API_KEY, or a prompt)'),
  url: option('URL', 'full URL, or the URL of a node without a key (default: KEYRAIL_URL)'),
}
const keyHint = "keys in arguments stay in the shell's history: set KEYRAIL_API_KEY, or use --key-file FILE"
export const keyAsArgument = { 'api-key': keyHint, key: keyHint }

/** The options that select logs. */
export const logFilter = {
  address: option('ADDRESS', 'contract address; repeat it or use commas for several (default: all contracts)'),
  event: option('EVENT', "event signature, as 'Transfer(address,address,uint256)'; repeat it for several"),
  topic0: option('TOPIC', 'event hash, instead of --event; use commas for several'),
  topic1: option('TOPIC', 'first indexed parameter: 32 bytes or an address; use commas for several'),
  topic2: option('TOPIC', 'second indexed parameter'),
  topic3: option('TOPIC', 'third indexed parameter'),
}

/** The options of the control API. */
export const control = {
  service: option('URL', 'URL of the dashboard (default: KEYRAIL_SERVICE_URL)'),
  'token-file': option('FILE', 'read the personal access token from FILE (default: KEYRAIL_TOKEN, or a prompt)'),
  account: option(
    'ID',
    'id of the account, from keyrail accounts; a token works only for its own (default: that of the token)',
  ),
}
/** An option of `list`, for scripts and shell completion. */
export const names = flag('list: print only the names, one per line')
/** The options of the actions on keys. */
export const keyActions = {
  expires: option('TIME', 'create, rotate: expiry, for example 2027-01-31, or never'),
  grace: option('DAYS', 'rotate: how long the old key still works, 0 to 7 (default: 0)'),
  'key-file': option(
    'FILE',
    'create, rotate, reveal: write the key to FILE, readable by you only; rotate replaces a key file',
  ),
  show: flag('create, rotate: print the key, and nothing else, to standard output'),
}
/** The options of actions that need a password. */
export const createPersonal = (action: string) => ({
  email: option('EMAIL', `${action}: email address of your account; prompts for the password`),
  'password-file': option('FILE', `${action}: read the password from FILE`),
})
export const personal = createPersonal('reveal')
export const tokenHint = "tokens in arguments stay in the shell's history: set KEYRAIL_TOKEN, or use --token-file FILE"
export const secretAsArgument = {
  token: tokenHint,
  password: "passwords in arguments stay in the shell's history: enter it at the prompt, or use --password-file FILE",
}
export const exitCodesNote = 'Exit codes: 0 success; 1 rejected by the service; 2 invalid usage; 3 no response.'
/** How to get a token. */
export const tokenNote = (scope: string): string =>
  `Create a token in the dashboard, under Account, with the scope${scope === 'read' ? ' read' : `s read and ${scope}`}.`
export const createKeyNotes = (scope: string, personalNeed: string): readonly string[] => [
  `${tokenNote(scope)} A new key is shown only once:\nadd --key-file or --show. ${personalNeed} your password instead of a token.`,
  exitCodesNote,
]
