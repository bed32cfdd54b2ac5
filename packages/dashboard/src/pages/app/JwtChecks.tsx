import type { AppView } from '@keyrail/gateway'
import { useDraft } from '../../control/useDraft.ts'
import { useSubmit } from '../../control/useSubmit.ts'
import { Card } from '../../parts/Card.tsx'
import { useDialogs } from '../../parts/dialogs.ts'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { TextField } from '../../parts/TextField.tsx'
import { spanText } from '../../parts/times.ts'
import { useAppChange } from './useAppChange.ts'

const longestS = 31_536_000
const isSpan = (text: string): boolean => /^\d{1,8}$/.test(text) && Number(text) >= 1 && Number(text) <= longestS

/** What an app requires of its tokens besides a valid signature. */
export function JwtChecks({ app }: { readonly app: AppView }) {
  const change = useAppChange(app)
  const { say } = useDialogs()
  const draft = useDraft(`${app.id}/jwt`, {
    audience: app.jwt.audience ?? '',
    maxLifetimeS: String(app.jwt.maxLifetimeS),
  })
  const lifetime = draft.values.maxLifetimeS.trim()
  const ahead = lifetime === '' ? 'a day' : isSpan(lifetime) ? spanText(Number(lifetime)) : 'so far'
  const saving = useSubmit({
    check: () => ({
      maxLifetimeS:
        lifetime === '' || isSpan(lifetime) ? undefined : 'Must be a whole number of seconds, from 1 to a year',
    }),
    send: () => {
      const { changes } = draft
      const jwt = {
        ...(changes.audience !== undefined && { audience: changes.audience.trim() || null }),
        ...(changes.maxLifetimeS !== undefined && { maxLifetimeS: lifetime === '' ? null : Number(lifetime) }),
      }
      return change(Object.keys(jwt).length > 0 ? { jwt } : {})
    },
    done: () => {
      draft.clear()
      say('Saved')
    },
    fields: ['jwt.audience', 'jwt.maxLifetimeS'],
  })
  return (
    <Card
      title="Audience and lifetime"
      help="front-end-keys#short-lived-tokens"
      lead="Checked in each token in addition to its signature."
    >
      <SaveForm of={saving} draft={draft} needs="apps:write">
        <div className="pair">
          <TextField
            label="Audience"
            name="audience"
            optional
            value={draft.values.audience}
            onChange={(audience) => draft.change({ audience })}
            most={200}
            fix={saving.getFix('jwt.audience')}
            hint={
              <>
                What a token’s <code>aud</code> must be or hold. Left empty: anything, or nothing.
              </>
            }
          />
          <TextField
            label="Longest lifetime, in seconds"
            name="maxLifetimeS"
            optional
            value={draft.values.maxLifetimeS}
            onChange={(maxLifetimeS) => draft.change({ maxLifetimeS })}
            placeholder="86400"
            fix={saving.getFix('maxLifetimeS') ?? saving.getFix('jwt.maxLifetimeS')}
            hint={
              <>
                A token’s <code>exp</code> may lie at most {ahead} ahead.
              </>
            }
          />
        </div>
      </SaveForm>
    </Card>
  )
}
