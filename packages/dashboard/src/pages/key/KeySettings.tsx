import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import type { ApiKeyView } from '@keyrail/gateway'
import { callApi } from '../../control/callApi.ts'
import { deploymentQuery, keyQuery } from '../../control/queries.ts'
import { useDraft } from '../../control/useDraft.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Card } from '../../parts/Card.tsx'
import { ConfirmedButton } from '../../parts/ConfirmedButton.tsx'
import { ConfirmedReadsCard } from '../../parts/ConfirmedReadsCard.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { KeyCard } from '../../parts/KeyCard.tsx'
import { NameFields } from '../../parts/NameFields.tsx'
import { Needs } from '../../parts/Needs.tsx'
import { Note } from '../../parts/Note.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { useKey } from './useKey.ts'
import { useKeyChange } from './useKeyChange.ts'

/** The settings of an API key, its rotation and its revocation. */
export function KeySettings() {
  const key = useKey()
  const queries = useQueryClient()
  const { data: deployment } = useQuery(deploymentQuery)
  const params = { keyId: key.id }
  const show = (changed: ApiKeyView): void => {
    queries.setQueryData(keyQuery(key.id).queryKey, changed)
    void queries.invalidateQueries({ queryKey: ['keys'] })
  }
  const edit = useKeyChange(key)
  if (key.state === 'revoked') return <Note>This API key is revoked and cannot be changed.</Note>
  return (
    <div className="stack wide">
      <About apiKey={key} edit={edit} />
      <KeyCard
        id={key.id}
        subject={{ keyId: key.id }}
        needs="keys:write"
        facts={key}
        maxGraceDays={deployment?.limits.maxGraceDays ?? 0}
        setExpiry={(expiresAt) => edit({ expiresAt })}
        rotate={async (graceDays) => {
          const rotated = await callApi('POST /api/keys/{keyId}/rotate', { params, body: { graceDays } })
          show(rotated.key)
          void queries.invalidateQueries({ queryKey: ['key-traffic'] })
          return { id: key.id, apiKey: rotated.apiKey, revealable: rotated.key.revealable }
        }}
        endOld={async () => show(await callApi('DELETE /api/keys/{keyId}/old', { params }))}
      />
      <ConfirmedReadsCard of={key} needs="keys:write" save={edit} />
      <Needs scope="keys:write">
        <Revoke apiKey={key} />
      </Needs>
    </div>
  )
}

function About(props: {
  readonly apiKey: ApiKeyView
  readonly edit: (change: { readonly name?: string; readonly description?: string }) => Promise<unknown>
}) {
  const { say } = useDialogs()
  const draft = useDraft(`${props.apiKey.id}/about`, { name: props.apiKey.name, description: props.apiKey.description })
  const saving = useSubmit({
    check: () => ({ name: draft.values.name.trim() === '' ? 'Enter a name' : undefined }),
    send: () => props.edit(draft.changes),
    done: () => {
      draft.clear()
      say('Saved')
    },
    fields: ['name', 'description'],
  })
  return (
    <Card title="Details">
      <SaveForm of={saving} draft={draft} needs="keys:write">
        <NameFields values={draft.values} onChange={draft.change} getFix={saving.getFix} />
      </SaveForm>
    </Card>
  )
}

function Revoke({ apiKey }: { readonly apiKey: ApiKeyView }) {
  const queries = useQueryClient()
  const router = useRouter()
  const { say } = useDialogs()
  return (
    <Card title="Revoke API key" lead="Calls with it are rejected at once. You can then create another one.">
      <div className="row end">
        <ConfirmedButton
          kind="danger"
          title={`Revoke ${apiKey.name}?`}
          lead="Programs that use it stop working at once. This cannot be undone."
          action="Revoke"
          send={() => callApi('POST /api/keys/{keyId}/revoke', { params: { keyId: apiKey.id } })}
          done={async () => {
            say('Revoked. Calls with it are rejected from now on.')
            await router.navigate({ to: '/keys', replace: true })
            await queries.invalidateQueries({ queryKey: ['keys'] })
            await queries.invalidateQueries({ queryKey: ['key', apiKey.id] })
          }}
        >
          Revoke
        </ConfirmedButton>
      </div>
    </Card>
  )
}
