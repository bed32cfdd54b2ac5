import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { AllowEntryView, AllowListPreviewView, AllowTypeName } from '@keyrail/gateway'
import { useState } from 'react'
import { callApi } from '../../control/callApi.ts'
import { allowListQuery } from '../../control/queries.ts'
import { useStored } from '../../control/useStored.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Button } from '../../parts/Button.tsx'
import { Card, focusHeading } from '../../parts/Card.tsx'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { ConfirmedButton } from '../../parts/ConfirmedButton.tsx'
import { Dialog } from '../../parts/Dialog.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { Loaded } from '../../parts/Loaded.tsx'
import { Needs } from '../../parts/Needs.tsx'
import { Problem } from '../../parts/Note.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { SelectField } from '../../parts/SelectField.tsx'
import { TextField } from '../../parts/TextField.tsx'
import { agoText, countText, momentText } from '../../parts/times.ts'
import { useApp } from './useApp.ts'
import { TableHead } from '../../parts/TableHead.tsx'

const types: readonly {
  readonly id: AllowTypeName
  readonly title: string
  readonly one: string
  readonly example: string
  readonly hint: string
  /** What the app accepts without entries of this type. */
  readonly open: string
}[] = [
  {
    id: 'origin',
    title: 'Origins',
    one: 'Origin',
    example: 'https://app.example.com',
    hint: 'The origins of pages that may call. https://*.example.com matches all its subdomains. If you list one, calls without an Origin header (servers, curl) are rejected.',
    open: 'the app accepts calls from every website, and from programs that send no Origin header',
  },
  {
    id: 'ip',
    title: 'IP addresses',
    one: 'IP address',
    example: '203.0.113.0/24',
    hint: 'The IP addresses of callers: single addresses or ranges, IPv4 or IPv6.',
    open: 'the app accepts calls from every IP address',
  },
  {
    id: 'method',
    title: 'Methods',
    one: 'Method',
    example: 'eth_call',
    hint: 'The methods that callers may use. eth_* matches every method that starts with eth_.',
    open: 'the app accepts calls to every method',
  },
  {
    id: 'address',
    title: 'Contract addresses',
    one: 'Contract address',
    example: '0x…',
    hint: 'The contracts and accounts that calls may read or change.',
    open: 'the app accepts calls about every contract and account',
  },
  {
    id: 'userAgent',
    title: 'User agents',
    one: 'User agent',
    example: 'MyWallet/',
    hint: 'A part of the caller’s User-Agent header. Any client can send any value, so this does not protect the key.',
    open: 'the app accepts calls from every user agent',
  },
]

/** The allow list of an app: which callers, methods and addresses it accepts. */
export function AppAllowList() {
  const app = useApp()
  const query = useQuery(allowListQuery(app.id))
  return (
    <>
      <Card
        title="Allow list"
        lead="A call must match one entry of each type that has entries. A type without entries allows every call. If you list an origin, calls without an Origin header (servers, curl) are rejected."
      >
        <Needs scope="apps:write">
          <Add appId={app.id} entries={query.data?.items} />
        </Needs>
      </Card>
      <Loaded query={query}>
        {({ items, maxPerType }) => (
          <>
            {types.map((type) => {
              const entries = items.filter((entry) => entry.type === type.id)
              return (
                <Card
                  key={type.id}
                  id={type.id}
                  title={type.title}
                  lead={type.hint}
                  aside={
                    <span className="badge">
                      {entries.length} of {maxPerType}
                    </span>
                  }
                >
                  {entries.length === 0 ? (
                    <p className="soft">Everything is allowed.</p>
                  ) : (
                    <table className="table cards">
                      <TableHead titles={[type.one, 'Label', 'Last use']} hasButtons />
                      <tbody>
                        {entries.map((entry) => (
                          <Entry
                            key={entry.id}
                            appId={app.id}
                            entry={entry}
                            type={type}
                            isLast={entries.length === 1}
                          />
                        ))}
                      </tbody>
                    </table>
                  )}
                </Card>
              )
            })}
          </>
        )}
      </Loaded>
    </>
  )
}

/** Describes what a first entry of a type rejects; `undefined` if nothing that it rejects is known. */
function previewText({ source, requests, rejected, examples }: AllowListPreviewView): string | undefined {
  if (source === 'none')
    return 'The request log of this service is off, so it is unknown which requests the list would reject.'
  if (rejected === 0) return undefined
  const where = source === 'requestLog' ? ' in the request log' : ''
  const shown = examples.map((example) => example ?? 'no origin (servers, curl)').join(', ')
  return `${countText(rejected)} of ${countText(requests)} requests of the last day${where} would be rejected: ${shown}. Add those that you need right after this one.`
}

function Add({
  appId,
  entries,
}: {
  readonly appId: string
  /** `undefined` while they are loading. */
  readonly entries: readonly AllowEntryView[] | undefined
}) {
  const queries = useQueryClient()
  const { say } = useDialogs()
  const [{ type, value, label }, setTyped] = useStored<{
    readonly type: AllowTypeName
    readonly value: string
    readonly label: string
  }>(`${appId}/allow-list`, { type: 'origin', value: '', label: '' })
  const chosen = types.find(({ id }) => id === type)
  const [warning, setWarning] = useState<string>()
  const add = async (): Promise<undefined> => {
    await callApi('POST /api/apps/{appId}/allow-list', {
      params: { appId },
      body: { type, value: value.trim(), ...(label.trim() && { label: label.trim() }) },
    })
  }
  /** Further entries of a type only allow more. */
  const preview = async (): Promise<string | undefined> => {
    if ((type !== 'origin' && type !== 'method') || entries?.some((entry) => entry.type === type)) return undefined
    const query = { type, value: value.trim() }
    return previewText(await callApi('GET /api/apps/{appId}/allow-list/preview', { params: { appId }, query }))
  }
  const finish = async (): Promise<void> => {
    setWarning(undefined)
    setTyped({ type, value: '', label: '' })
    say('Added')
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
            options={types.map(({ id, one }) => ({ value: id, title: one }))}
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

function Entry(props: {
  readonly appId: string
  readonly entry: AllowEntryView
  readonly type: (typeof types)[number]
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
                focusHeading(entry.type)
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
