import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { deploymentQuery } from '../control/queries.ts'
import { useStored } from '../control/useStored.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Card } from './Card.tsx'
import { Choices } from './Choices.tsx'
import { useDialogs } from './dialogs.ts'
import { SaveForm } from './SaveForm.tsx'
import { SecretLink } from './SecretLink.tsx'
import { SelectField } from './SelectField.tsx'
import { TextField } from './TextField.tsx'

/** Creates an invite, which it shows as a link or sends by email. */
export function InviteForm<Choice extends string>(props: {
  readonly title: string
  readonly lead: string
  /** The field of the email address. */
  readonly email: { readonly label: string; readonly optional: boolean }
  /** The field with what else is chosen. */
  readonly choice: {
    readonly label: string
    readonly name: string
    readonly first: Choice
    readonly options: readonly { readonly value: Choice; readonly title: string }[]
  }
  readonly create: (invite: {
    readonly email: string
    readonly choice: Choice
    readonly send: boolean
    readonly password: string | undefined
  }) => Promise<{ readonly url: string; readonly expiresAt: string }>
  /** The key of the query that lists the invites. */
  readonly queryKey: readonly string[]
}) {
  const { email: emailField, choice: choiceField } = props
  const queries = useQueryClient()
  const { say } = useDialogs()
  const { data: deployment } = useQuery(deploymentQuery)
  const [email, setEmail, clearEmail] = useStored(`new-invite/${props.queryKey.join('/')}`, '')
  const [choice, setChoice] = useState(choiceField.first)
  const [isSent, setSent] = useState(false)
  const [link, setLink] = useState<{ readonly url: string; readonly expiresAt: string }>()
  const making = useSubmit({
    check: () => ({ email: email.trim() === '' && !emailField.optional ? 'Enter an email address' : undefined }),
    send: (password) => props.create({ email: email.trim(), choice, send: isSent, password }),
    done: async (made) => {
      clearEmail()
      if (isSent) say('Invite sent')
      setLink(isSent ? undefined : made)
      await queries.invalidateQueries({ queryKey: props.queryKey })
    },
    fields: ['email', choiceField.name],
  })
  return (
    <Card title={props.title} lead={props.lead}>
      {link && <SecretLink {...link} what="the invite" />}
      <SaveForm of={making} action="Create invite">
        <div className="pair">
          <TextField
            label={emailField.label}
            name="email"
            type="email"
            optional={emailField.optional}
            required={!emailField.optional}
            value={email}
            onChange={setEmail}
            fix={making.getFix('email')}
          />
          <SelectField
            label={choiceField.label}
            name={choiceField.name}
            value={choice}
            onChange={setChoice}
            options={choiceField.options}
            fix={making.getFix(choiceField.name)}
          />
        </div>
        {deployment?.email && (
          <Choices
            legend="Delivery"
            kind="any"
            name="send"
            value={isSent ? ['send'] : []}
            onChange={(chosen) => setSent(chosen.includes('send'))}
            options={[{ value: 'send', title: 'Send the invite by email' }]}
          />
        )}
      </SaveForm>
    </Card>
  )
}
