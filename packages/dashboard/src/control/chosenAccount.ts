import { readLocalChoice, storeLocalChoice } from './localChoice.ts'

const choice = 'account'

// Read once: another tab may choose another account, and this one keeps its own.
let chosen = readLocalChoice(choice) ?? ''

/** The id of the account that requests act for; `undefined`: the personal one. */
export const getChosenAccount = (): string | undefined => (chosen === '' ? undefined : chosen)

/** Chooses the account that requests act for. The pages are loaded again: what they show belongs to the other account. */
export function chooseAccount(id: string | undefined): void {
  chosen = id ?? ''
  storeLocalChoice(choice, chosen)
  location.assign('/apps')
}

/** The header that names the account. The page that joins a team acts for the user: an account that the user has left must not replace the page. */
export const getAccountHeader = (): Readonly<Record<string, string>> =>
  chosen === '' || location.pathname === '/join' ? {} : { 'x-keyrail-account': chosen }
