import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { AppView } from '@keyrail/gateway'
import { useMemo } from 'react'
import { activityQuery } from '../../control/queries.ts'
import { createSearch } from '../../networks/createSearch.ts'
import { SearchSelect } from '../../parts/SearchSelect.tsx'
import type { SearchOption } from '../../parts/SearchSelect.tsx'

/** Most apps that the list shows at once: rendering a thousand takes too long. */
const maxShown = 50

/** Opens the same page of another app. Renders nothing if there is only one. */
export function AppSwitcher({ app }: { readonly app: AppView }) {
  const navigate = useNavigate()
  const { data } = useQuery(activityQuery)
  const apps = useMemo((): readonly SearchOption[] => {
    const items = data?.items.filter(({ kind }) => kind === 'app') ?? []
    return items.map(({ id, name }) => ({ value: id, title: name }))
  }, [data])
  const search = useMemo(() => {
    const find = createSearch(apps, ({ title }) => [title])
    return (text: string) => find(text).slice(0, maxShown)
  }, [apps])
  if (apps.length < 2) return null
  return (
    <div className="switcher">
      <SearchSelect
        label="Switch app"
        hidesLabel
        name="app"
        chosen={undefined}
        search={search}
        // A request belongs to one app.
        onChoose={(appId) => void navigate({ to: '.', params: { appId }, search: {} })}
        placeholder="Switch app"
        nothing={`No app matches. This one is ${app.name}.`}
      />
    </div>
  )
}
