import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo, useRef } from 'react'
import { activityQuery, sessionQuery } from '../control/queries.ts'
import { chooseTheme, useTheme } from '../control/theme.ts'
import { useAccounts } from '../control/useAccounts.ts'
import { useAction } from '../control/useAction.ts'
import { useLogOut } from '../control/useLogOut.ts'
import { useMay } from '../control/useMay.ts'
import { createSearch } from '../networks/createSearch.ts'
import { copyText } from '../parts/copyText.ts'
import { Dialog } from '../parts/Dialog.tsx'
import { useDialogs } from '../parts/dialogs.ts'
import { SearchSelect } from '../parts/SearchSelect.tsx'
import { listEntries } from './listEntries.ts'
import type { Command, Entry } from './listEntries.ts'
import { useOpenKey } from './useOpenKey.ts'
import type { OpenKey } from './useOpenKey.ts'

/** Most entries that the list shows at once: rendering a thousand takes too long. */
const maxShown = 50

/**
 * A dialog that goes to an app, an API key or a page, or runs an action, by a part of its name. It stays mounted while it is closed, because an action
 * may have to ask for the password.
 */
export function GoTo({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const navigate = useNavigate()
  const { choose } = useAccounts()
  const logOut = useLogOut()
  const open = useOpenKey()
  const { say } = useDialogs()
  const network = useRef('')
  const copying = useAction({
    send: (password) => open.getUrl(network.current, password),
    done: async (url) =>
      say((await copyText(url)) ? 'Copied the URL' : 'The browser did not allow copying. Show it and copy it by hand.'),
  })
  const run = (command: Command): void => {
    if (command.kind === 'open') void navigate({ to: command.to, params: command.params })
    else if (command.kind === 'theme') chooseTheme(command.theme)
    else if (command.kind === 'account') choose(command.id)
    else if (command.kind === 'logOut') logOut.submit()
    else {
      network.current = command.network
      copying.submit()
    }
  }
  if (!isOpen) return null
  return (
    <GoToDialog
      open={open}
      onClose={onClose}
      onChoose={(command) => {
        onClose()
        run(command)
      }}
    />
  )
}

function GoToDialog(props: {
  readonly open: OpenKey
  readonly onClose: () => void
  readonly onChoose: (command: Command) => void
}) {
  const entries = useEntries(props.open)
  const search = useMemo(() => {
    const find = createSearch([...entries.entries()], ([, { title, what }]) => [title, `${what} ${title}`])
    return (text: string) =>
      find(text)
        .slice(0, maxShown)
        .map(([at, { title, what }]) => ({ value: String(at), title, what }))
  }, [entries])
  return (
    <Dialog title="Go to" onClose={props.onClose}>
      <SearchSelect
        label="An app, an API key, a page or an action"
        hidesLabel
        name="entry"
        search={search}
        isAlwaysOpen
        onChoose={(value) => {
          const entry = entries[Number(value)]
          if (entry) props.onChoose(entry.command)
        }}
        placeholder="An app, an API key, a page or an action"
        nothing="Nothing has this in its name."
      />
    </Dialog>
  )
}

function useEntries({ item, networks }: OpenKey): readonly Entry[] {
  const may = useMay()
  const theme = useTheme()
  const { accounts, current } = useAccounts()
  const { data: session } = useQuery(sessionQuery)
  const { data: activity } = useQuery(activityQuery)
  return listEntries({
    may,
    isOperator: session?.account.role === 'operator',
    theme,
    accounts,
    account: current,
    open: item,
    urlNetworks: networks,
    items: activity?.items ?? [],
  })
}
