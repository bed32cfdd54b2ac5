import { useQueryClient } from '@tanstack/react-query'
import type { AllowListPreviewView, AllowTypeName, ControlApi } from '@keyrail/gateway'
import { useState } from 'react'
import { callApi } from '../../../control/callApi.ts'
import { useStored } from '../../../control/useStored.ts'
import { useSubmit } from '../../../control/useSubmit.ts'
import { ConfirmDialog } from '../../../parts/ConfirmDialog.tsx'
import { useDialogs } from '../../../parts/dialogs.ts'
import { SaveForm } from '../../../parts/SaveForm.tsx'
import { SelectField } from '../../../parts/SelectField.tsx'
import { TextField } from '../../../parts/TextField.tsx'
import { countText } from '../../../parts/times.ts'
import { allowTypes } from './allowTypes.ts'

/** Describes what a first entry of a type rejects; `undefined` if nothing that it rejects is known. */
function previewText({ source, requests, rejected, examples }: AllowListPreviewView): string | undefined {
  if (source === 'none')
    return 'The request log of this service is off, so it is unknown which requests the list would reject.'
  if (rejected === 0) return undefined
  const where = source === 'requestLog' ? ' in the request log' : ''
  const shown = examples.map((example) => example ?? 'no origin (servers, curl)').join(', ')
  return `${countText(rejected)} of ${countText(requests)} requests of the last day${where} would be rejected: ${shown}. Add those that you need right after this one.`
}

/** Adds an entry. The first one of a type says what it would reject. */
export function AllowListForm({
  appId,
  list,
}: {
  readonly appId: string
  /** `undefined` while it is loading. */
  readonly list: ControlApi['GET /api/apps/{appId}/allow-list']['response'] | undefined
}) {
  const queries = useQueryClient()
  const { say } = useDialogs()
  const [{ type, value, label }, setTyped] = useStored<{
    readonly type: AllowTypeName
    readonly value: string
    readonly label: string
  }>(`${appId}/allow-list`, { type: 'origin', value: '', label: '' })
  const chosen = allowTypes.find(({ id }) => id === type)
  const entries = list?.items.filter((entry) => entry.type === type)
  const [warning, setWarning] = useState<string>()
  const add = async (): Promise<undefined> => {
    await callApi('POST /api/apps/{appId}/allow-list', {
      params: { appId },
      body: { type, value: value.trim(), ...(label.trim() && { label: label.trim() }) },
    })
  }
  /** Further entries of a type only allow more. */
  const preview = async (): Promise<string | undefined> => {
    if ((type !== 'origin' && type !== 'method') || (entries !== undefined && entries.length > 0)) return undefined
    const query = { type, value: value.trim() }
    return previewText(await callApi('GET /api/apps/{appId}/allow-list/preview', { params: { appId }, query }))
  }
  const finish = async (): Promise<void> => {
    setWarning(undefined)
    setTyped({ type, value: '', label: '' })
    say(`Added ${value.trim()}`)
    await queries.invalidateQueries({ queryKey: ['app', appId] })
  }
  const adding = useSubmit({
    check: () => ({ value: value.trim() === '' ? `Enter a value, such as ${chosen?.example}` : undefined }),
    send: async () => (await preview()) ?? (await add()),
    done: (found) => (found === undefined ? finish() : setWarning(found)),
    fields: ['type', 'value', 'label'],
  })
  const confirming = useSubmit({ send: add, done: finish })
  return (
    <>
      <SaveForm of={adding} action="Add" label="Add to the allow list">
        <div className="selects">
          <SelectField
            label="Type"
            name="type"
            value={type}
            onChange={(next) => setTyped({ type: next, value, label })}
            options={allowTypes.map(({ id, one }) => ({ value: id, title: one }))}
            fix={adding.getFix('type')}
          />
          <TextField
            label={chosen?.one ?? 'Value'}
            name="value"
            mono
            value={value}
            onChange={(next) => setTyped({ type, value: next, label })}
            placeholder={chosen?.example ?? ''}
            required
            fix={adding.getFix('value')}
          />
          <TextField
            label="Label"
            name="label"
            optional
            value={label}
            onChange={(next) => setTyped({ type, value, label: next })}
            most={64}
            fix={adding.getFix('label')}
          />
        </div>
        <p className="hint">
          {chosen?.hint}
          {list !== undefined &&
            ` ${countText(entries?.length ?? 0)} of at most ${countText(list.maxPerType)} entries.`}
        </p>
      </SaveForm>
      {warning !== undefined && (
        <ConfirmDialog
          of={confirming}
          title={`Allow only ${value.trim()}?`}
          lead={warning}
          action="Add"
          onClose={() => {
            confirming.clear()
            setWarning(undefined)
          }}
        />
      )}
    </>
  )
}
