import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { activityQuery, sessionQuery } from '../control/queries.ts'
import { useMay } from '../control/useMay.ts'
import { createSearch } from '../networks/createSearch.ts'
import { Dialog } from '../parts/Dialog.tsx'
import { accountPages, appPages, appSettingsPages, keyPages, operatorPages } from '../parts/pageTable.ts'
import type { PageLink } from '../parts/pageTable.ts'
import { SearchSelect } from '../parts/SearchSelect.tsx'

/** A place to go to. */
interface Place {
  readonly to: string
  readonly params: Readonly<Record<string, string>>
  readonly title: string
  readonly what: string
}

const mainPages: readonly PageLink[] = [
  { to: '/apps', title: 'Apps' },
  { to: '/keys', title: 'Keys' },
  { to: '/apps/new', title: 'Create app', scope: 'apps:write' },
  { to: '/keys/new', title: 'Create API key', scope: 'keys:write' },
]

/** Most places that the list shows at once: rendering a thousand takes too long. */
const maxShown = 50

/** A dialog that goes to an app, an API key or a page by a part of its name. */
export function GoTo({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate()
  const places = usePlaces()
  const search = useMemo(() => {
    const find = createSearch([...places.entries()], ([, { title, what }]) => [title, `${what} ${title}`])
    return (text: string) =>
      find(text)
        .slice(0, maxShown)
        .map(([at, { title, what }]) => ({ value: String(at), title, what }))
  }, [places])
  return (
    <Dialog title="Go to" onClose={onClose}>
      <SearchSelect
        label="An app, an API key or a page"
        hidesLabel
        name="place"
        chosen={undefined}
        search={search}
        isAlwaysOpen
        onChoose={(value) => {
          const place = places[Number(value)]
          onClose()
          if (place) void navigate({ to: place.to, params: place.params })
        }}
        placeholder="An app, an API key or a page"
        nothing="Nothing has this in its name."
      />
    </Dialog>
  )
}

/** Returns the places of the user in the current account: the pages of the open app or API key, then other pages, then apps and API keys. */
function usePlaces(): readonly Place[] {
  const may = useMay()
  const { appId, keyId } = useParams({ strict: false })
  const { data: session } = useQuery(sessionQuery)
  const { data: activity } = useQuery(activityQuery)
  const items = activity?.items ?? []
  const toPlaces = (pages: readonly PageLink[], what: string, params: Place['params'] = {}): readonly Place[] =>
    pages.filter(({ scope }) => scope === undefined || may(scope)).map(({ to, title }) => ({ to, title, what, params }))
  const getName = (id: string): string => items.find((item) => item.id === id)?.name ?? ''
  return [
    ...(appId === undefined ? [] : toPlaces([...appPages, ...appSettingsPages], getName(appId), { appId })),
    ...(keyId === undefined ? [] : toPlaces(keyPages, getName(keyId), { keyId })),
    ...toPlaces(mainPages, ''),
    ...toPlaces(accountPages, 'Account'),
    ...(session?.account.role === 'operator' ? toPlaces(operatorPages, 'Operator') : []),
    ...items.map(({ id, name, kind }) =>
      kind === 'app'
        ? { to: '/apps/$appId', params: { appId: id }, title: name, what: 'App' }
        : { to: '/keys/$keyId', params: { keyId: id }, title: name, what: 'API key' },
    ),
  ]
}
