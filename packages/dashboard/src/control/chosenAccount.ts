import { readLocalChoice, storeLocalChoice } from './localChoice.ts'

const choice = 'account'

// Read once: another tab may choose another account, and this one keeps its own.
let chosen = readLocalChoice(choice) ?? ''

/** Sets a cookie by which the service knows whether to preload the data of pages: a preload cannot send the header that names a team. */
export function noteTeam(): void {
  document.cookie = `keyrail-team=${chosen === '' ? '; max-age=0' : '1; max-age=31536000'}; path=/; samesite=strict`
}

/** The id of the account that requests act for; `undefined`: the personal one. */
export const getChosenAccount = (): string | undefined => (chosen === '' ? undefined : chosen)

/** Chooses the account that requests act for. The pages are loaded again: what they show belongs to the other account. */
export function chooseAccount(id: string | undefined): void {
  chosen = id ?? ''
  storeLocalChoice(choice, chosen)
  noteTeam()
  location.assign('/apps')
}

/** The header that names the account. The page that joins a team acts for the user: an account that the user has left must not replace the page. */
export const getAccountHeader = (): Readonly<Record<string, string>> =>
  chosen === '' || location.pathname === '/join' ? {} : { 'x-keyrail-account': chosen }
