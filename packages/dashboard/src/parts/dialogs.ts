import { createContext, useContext } from 'react'

/** The dialogs and messages that any page can show. */
export interface Dialogs {
  /** Asks for the password. @returns `undefined` if the user cancels. */
  readonly askPassword: (wasWrong: boolean) => Promise<string | undefined>
  /** Asks for a second factor. @returns `false` if the user cancels. */
  readonly askFactor: () => Promise<boolean>
  /** Shows a new key. Resolves when the user closes it, and if the service cannot show it again, confirms that they saved it. */
  readonly showNewKey: (apiKey: string, options: { readonly revealable: boolean }) => Promise<void>
  /** Shows a message for some seconds, and announces it. With `undo`, it has a button that reverts what was done. */
  readonly say: (text: string, options?: { readonly undo?: () => Promise<unknown> }) => void
}

/** Provided by {@link DialogsProvider}. */
export const DialogsContext = createContext<Dialogs>({
  askPassword: () => Promise.resolve(undefined),
  askFactor: () => Promise.resolve(false),
  showNewKey: () => Promise.resolve(),
  say: () => undefined,
})

/** The dialogs and messages that any page can show. */
export const useDialogs = (): Dialogs => useContext(DialogsContext)
