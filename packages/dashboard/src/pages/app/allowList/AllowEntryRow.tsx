import { useQueryClient } from '@tanstack/react-query'
import type { AllowEntryView } from '@keyrail/gateway'
import { useState } from 'react'
import { callApi } from '../../../control/callApi.ts'
import { useSubmit } from '../../../control/useSubmit.ts'
import { Button } from '../../../parts/Button.tsx'
import { focusHeading } from '../../../parts/Card.tsx'
import { ConfirmedButton } from '../../../parts/ConfirmedButton.tsx'
import { Dialog } from '../../../parts/Dialog.tsx'
import { useDialogs } from '../../../parts/dialogs.ts'
import { Needs } from '../../../parts/Needs.tsx'
import { Problem } from '../../../parts/Note.tsx'
import { TextField } from '../../../parts/TextField.tsx'
import { agoText, dayText, momentText } from '../../../parts/times.ts'
import type { AllowType } from './allowTypes.ts'

/** An entry, with its use and its buttons. */
export function AllowEntryRow(props: {
  readonly appId: string
  readonly entry: AllowEntryView
  readonly type: AllowType
  /** Whether it is the only entry of its type. */
  readonly isLast: boolean
}) {
  const { appId, entry, type, isLast } = props
  const queries = useQueryClient()
  const { say } = useDialogs()
  const [isEditing, setEditing] = useState(false)
  const [label, setLabel] = useState(entry.label)
  const params = { appId, entryId: entry.id }
  const renew = (): Promise<void> => queries.invalidateQueries({ queryKey: ['app', appId] })
  const editing = useSubmit({
    send: () => callApi('PATCH /api/apps/{appId}/allow-list/{entryId}', { params, body: { label: label.trim() } }),
    done: async () => {
      setEditing(false)
      await renew()
    },
    fields: ['label'],
  })
  return (
    <tr>
      <td>{type.one}</td>
      <th scope="row" className="mono">
        {entry.value}
      </th>
      <td className="break">{entry.label || <span className="soft">No label</span>}</td>
      <td className="soft">
        {entry.lastUsedAt === null ? (
          'Never used'
        ) : (
          <time dateTime={entry.lastUsedAt} title={momentText(entry.lastUsedAt)}>
            Last used {agoText(entry.lastUsedAt)}
          </time>
        )}
      </td>
      <td className="soft" data-label="Added">
        <time dateTime={entry.createdAt} title={momentText(entry.createdAt)}>
          {dayText(entry.createdAt)}
        </time>
      </td>
      <td>
        <Needs scope="apps:write">
          <div className="row end">
            <Button size="little" kind="plain" label={`Edit label: ${entry.value}`} onClick={() => setEditing(true)}>
              Edit label
            </Button>
            <ConfirmedButton
              size="little"
              kind="danger"
              label={`Remove ${entry.value}`}
              title={`Remove ${entry.value}?`}
              lead={
                isLast
                  ? `It is the last entry of this type. Without it, ${type.open}.`
                  : 'Calls that only this entry allows are rejected immediately.'
              }
              action="Remove"
              send={() => callApi('DELETE /api/apps/{appId}/allow-list/{entryId}', { params })}
              done={async () => {
                say(`Removed ${entry.value}`, {
                  undo: async () => {
                    const { value, label: before } = entry
                    const body = { type: entry.type, value, ...(before && { label: before }) }
                    await callApi('POST /api/apps/{appId}/allow-list', { params: { appId }, body })
                    await renew()
                  },
                })
                await renew()
                // The button that had the focus is gone.
                focusHeading('allow-list')
              }}
            >
              Remove
            </ConfirmedButton>
          </div>
        </Needs>
        {isEditing && (
          <Dialog title="Label" onClose={() => setEditing(false)}>
            <form className="stack" noValidate onSubmit={editing.submit}>
              <p className="soft mono break">{entry.value}</p>
              <Problem text={editing.problem} />
              <TextField
                label="Label"
                name="label"
                value={label}
                onChange={setLabel}
                most={64}
                fix={editing.getFix('label')}
              />
              <div className="row end">
                <Button onClick={() => setEditing(false)}>Cancel</Button>
                <Button kind="primary" type="submit" busy={editing.isPending}>
                  Save
                </Button>
              </div>
            </form>
          </Dialog>
        )}
      </td>
    </tr>
  )
}
