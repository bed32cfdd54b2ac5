import { useQueryClient } from '@tanstack/react-query'
import type { ActingAccountView } from '@keyrail/gateway'
import { useState } from 'react'
import { callApi } from '../../control/callApi.ts'
import { chooseAccount } from '../../control/chosenAccount.ts'
import { accountsQuery, sessionQuery } from '../../control/queries.ts'
import { toConfirmBody } from '../../control/toConfirmBody.ts'
import { useDraft } from '../../control/useDraft.ts'
import { useStored } from '../../control/useStored.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { Problem } from '../../parts/Note.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { TextField } from '../../parts/TextField.tsx'

/** Creates a team. */
export function CreateTeam() {
  const [name, setName, clearName] = useStored('new-team/name', '')
  const making = useSubmit({
    check: () => ({ name: name.trim() === '' ? 'Enter a name' : undefined }),
    send: () => callApi('POST /api/accounts', { body: { name: name.trim() } }),
    done: ({ id }) => {
      clearName()
      chooseAccount(id)
    },
    fields: ['name'],
  })
  return (
    <Card title="Create a team" lead="You become its owner. It shares the limits of your personal account.">
      <SaveForm of={making} action="Create team">
        <TextField
          label="Name"
          name="name"
          value={name}
          onChange={setName}
          required
          most={64}
          fix={making.getFix('name')}
        />
      </SaveForm>
    </Card>
  )
}

/** Shows a change of the team on all pages. */
function useSaved(): () => Promise<void> {
  const queries = useQueryClient()
  const { say } = useDialogs()
  return async () => {
    await Promise.all(
      [sessionQuery, accountsQuery].map(({ queryKey }) => queries.invalidateQueries({ queryKey: [...queryKey] })),
    )
    say('Saved')
  }
}

/** The id and the name of the team. */
export function TeamDetails({ team: { id, name } }: { readonly team: ActingAccountView }) {
  const draft = useDraft(`${id}/name`, { name })
  const saved = useSaved()
  const renaming = useSubmit({
    check: () => ({ name: draft.values.name.trim() === '' ? 'Enter a name' : undefined }),
    send: () => callApi('PATCH /api/team', { body: { name: draft.values.name.trim() } }),
    done: async () => {
      await saved()
      draft.clear()
    },
    fields: ['name'],
  })
  return (
    <Card
      title="Details"
      help="service/teams#use-the-control-api"
      lead={
        <>
          On the command line, <code>--account {id}</code> selects the team.
        </>
      }
      aside={<CopyButton what="the id of the team" title="Copy id" text={() => id} />}
    >
      <SaveForm of={renaming} draft={draft} action="Rename" needs="manage">
        <TextField
          label="Name"
          name="name"
          value={draft.values.name}
          onChange={(value) => draft.change({ name: value })}
          required
          most={64}
          fix={renaming.getFix('name')}
        />
      </SaveForm>
    </Card>
  )
}

/** Whether members need a second factor. */
export function TeamRules({ isRequired }: { readonly isRequired: boolean }) {
  const { submit, isPending, problem } = useSubmit({
    send: (password) =>
      callApi('PUT /api/team/rules', { body: { membersNeedSecondFactor: !isRequired, ...toConfirmBody(password) } }),
    done: useSaved(),
  })
  return (
    <Card
      title="Second factor"
      help="service/teams#require-a-second-factor"
      lead={
        isRequired
          ? 'Every member needs a second factor. A member without one has no access to the team.'
          : 'If you require a second factor, a member without one has no access to the team until they add one.'
      }
    >
      <Problem text={problem} />
      <div className="row end">
        <Button busy={isPending} onClick={() => submit()}>
          {isRequired ? 'Stop requiring a second factor' : 'Require a second factor'}
        </Button>
      </div>
    </Card>
  )
}

/** Deletes the team. */
export function DeleteTeam({ name }: { readonly name: string }) {
  const [typed, setTyped] = useState('')
  const deleting = useSubmit({
    check: () => ({ name: typed.trim() === name ? undefined : `Enter ${name}` }),
    send: (password) => callApi('POST /api/team/delete', { body: { name: typed.trim(), ...toConfirmBody(password) } }),
    done: () => chooseAccount(undefined),
    fields: ['name'],
  })
  return (
    <Card title="Delete the team" lead="Its apps and keys stop working at once. The audit log stays with the operator.">
      <SaveForm of={deleting} action="Delete the team" isDanger>
        <TextField
          label="Name of the team"
          name="name"
          value={typed}
          onChange={setTyped}
          required
          fix={deleting.getFix('name')}
        />
      </SaveForm>
    </Card>
  )
}
