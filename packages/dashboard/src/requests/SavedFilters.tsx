import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ControlApi } from '@keyrail/gateway'
import { useState } from 'react'
import { callApi } from '../control/callApi.ts'
import { savedFiltersQuery, toRequestsQuery } from '../control/queries.ts'
import type { KeySubject } from '../control/queries.ts'
import type { RequestFilters } from '../control/searchParams.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Button } from '../parts/Button.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { useDialogs } from '../parts/dialogs.ts'
import { SaveForm } from '../parts/SaveForm.tsx'
import { SelectField } from '../parts/SelectField.tsx'
import { TextField } from '../parts/TextField.tsx'

type SavedFilter = ControlApi['GET /api/apps/{appId}/saved-filters']['response']['items'][number]
type Items = readonly SavedFilter[]

const toFilters = ({ filters: { keyEnding, ...others } }: SavedFilter): RequestFilters => ({
  ...others,
  ...(keyEnding !== undefined && { key: keyEnding }),
})

/** Filters as a text, for comparison. */
const toName = (filters: SavedFilter['filters']): string =>
  JSON.stringify(Object.entries(filters).toSorted(([one], [other]) => (one < other ? -1 : 1)))

/** The filters that the user has saved for this log: apply, save, rename, delete. Renders nothing without any, and without a filter to save. */
export function SavedFilters(props: {
  readonly subject: KeySubject
  readonly filters: RequestFilters
  readonly onApply: (filters: RequestFilters) => void
}) {
  const { subject, filters, onApply } = props
  const queries = useQueryClient()
  const { say } = useDialogs()
  const options = savedFiltersQuery(subject)
  const { data } = useQuery(options)
  const [isNaming, setNaming] = useState(false)
  const change = async (edit: (items: Items) => Items): Promise<void> => {
    // Another tab may have changed them.
    const items = edit((await queries.fetchQuery({ ...options, staleTime: 0 })).items)
    const saved = await ('appId' in subject
      ? callApi('PUT /api/apps/{appId}/saved-filters', { params: subject, body: { items } })
      : callApi('PUT /api/keys/{keyId}/saved-filters', { params: subject, body: { items } }))
    queries.setQueryData(options.queryKey, saved)
  }
  const current = toName(toRequestsQuery(filters))
  const applied = data?.items.find((item) => toName(item.filters) === current)
  const deleting = useSubmit({
    send: async () => {
      await change((items) => items.filter(({ name }) => name !== applied?.name))
      return applied
    },
    done: (deleted) =>
      deleted &&
      say('Deleted the filter', {
        undo: () => change((items) => [...items.filter(({ name }) => name !== deleted.name), deleted]),
      }),
  })
  if (data === undefined || (data.items.length === 0 && Object.keys(filters).length === 0)) return null
  return (
    <div className="row saved-filters">
      {data.items.length > 0 && (
        <SelectField
          label="Saved filters"
          name="saved"
          value={applied?.name ?? ''}
          nothing="Choose"
          onChange={(name) => {
            const chosen = data.items.find((item) => item.name === name)
            if (chosen) onApply(toFilters(chosen))
          }}
          options={data.items.map(({ name }) => ({ value: name, title: name }))}
        />
      )}
      {applied === undefined && Object.keys(filters).length > 0 && (
        <Button size="little" onClick={() => setNaming(true)}>
          Save these filters
        </Button>
      )}
      {applied && (
        <>
          <Button size="little" label={`Rename ${applied.name}`} onClick={() => setNaming(true)}>
            Rename
          </Button>
          <Button
            size="little"
            label={`Delete ${applied.name}`}
            busy={deleting.isPending}
            onClick={() => deleting.submit()}
          >
            Delete
          </Button>
        </>
      )}
      {isNaming && (
        <NameDialog
          of={applied?.name}
          taken={data.items.map(({ name }) => name)}
          send={(name) =>
            change((items) =>
              applied === undefined
                ? [...items, { name, filters: toRequestsQuery(filters) }]
                : items.map((item) => (item.name === applied.name ? { ...item, name } : item)),
            )
          }
          onClose={() => setNaming(false)}
        />
      )}
    </div>
  )
}

function NameDialog(props: {
  /** The name of the filter to rename; `undefined`: a new one. */
  readonly of: string | undefined
  readonly taken: readonly string[]
  readonly send: (name: string) => Promise<void>
  readonly onClose: () => void
}) {
  const { of, taken, onClose } = props
  const { say } = useDialogs()
  const [text, setText] = useState(of ?? '')
  const name = text.trim()
  const saving = useSubmit({
    check: () => ({
      name:
        name === ''
          ? 'Enter a name'
          : [...name].length > 64
            ? 'Must have at most 64 characters'
            : name !== of && taken.includes(name)
              ? 'You have a filter with this name. Choose another one'
              : undefined,
    }),
    send: () => props.send(name),
    done: () => {
      onClose()
      say('Saved')
    },
    fields: ['name'],
    titles: { items: 'The list' },
  })
  return (
    <Dialog title={of === undefined ? 'Save these filters' : 'Rename the filter'} onClose={onClose}>
      <SaveForm of={saving} more={<Button onClick={onClose}>Cancel</Button>}>
        <TextField label="Name" name="name" most={64} value={text} onChange={setText} fix={saving.getFix('name')} />
      </SaveForm>
    </Dialog>
  )
}
