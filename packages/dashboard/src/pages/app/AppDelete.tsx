import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { callApi } from '../../control/callApi.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { Needs, NotAllowed } from '../../parts/Needs.tsx'
import { Problem } from '../../parts/Note.tsx'
import { TextField } from '../../parts/TextField.tsx'
import { useApp } from './useApp.ts'

/** Deletes an app, once its name is typed. */
export function AppDelete() {
  const app = useApp()
  const queries = useQueryClient()
  const router = useRouter()
  const { say } = useDialogs()
  const [name, setName] = useState('')
  const { submit, isPending, problem, getFix } = useSubmit({
    check: () => ({ name: name === app.name ? undefined : 'Enter the name exactly as shown above' }),
    send: () => callApi('POST /api/apps/{appId}/delete', { params: { appId: app.id }, body: { name } }),
    done: async () => {
      say('Deleted. Its key is rejected from now on.')
      await router.navigate({ to: '/apps', replace: true })
      queries.removeQueries({ queryKey: ['app', app.id] })
      await queries.invalidateQueries({ queryKey: ['apps'] })
    },
    fields: ['name'],
  })
  return (
    <Card
      title="Delete app"
      lead="Calls with its key are rejected at once, and its allow list, JWT keys and settings are deleted. This cannot be undone."
    >
      <Needs scope="apps:write" otherwise={<NotAllowed />}>
        <form className="stack" noValidate onSubmit={submit}>
          <Problem text={problem} />
          <p>
            To go on, type its name: <strong className="break">{app.name}</strong>
          </p>
          <TextField label="App name" name="name" value={name} onChange={setName} required fix={getFix('name')} />
          <div className="row end">
            <Button kind="dangerPrimary" type="submit" busy={isPending}>
              Delete app
            </Button>
          </div>
        </form>
      </Needs>
    </Card>
  )
}
