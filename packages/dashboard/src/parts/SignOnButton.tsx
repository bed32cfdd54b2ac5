import { useQuery } from '@tanstack/react-query'
import { deploymentQuery } from '../control/queries.ts'
import { startSignOn } from '../control/signOn.ts'
import type { SignOnPlan } from '../control/signOn.ts'
import { useSubmit } from '../control/useSubmit.ts'
import { Button } from './Button.tsx'
import { Problem } from './Note.tsx'

/** Opens the provider of single sign-on. Renders nothing without a provider. */
export function SignOnButton({ verb = 'Continue with', ...plan }: SignOnPlan & { readonly verb?: string }) {
  const { data: deployment } = useQuery(deploymentQuery)
  const { submit, isPending, problem } = useSubmit({ send: () => startSignOn(plan) })
  if (!deployment?.singleSignOn) return null
  return (
    <div className="stack">
      <Problem text={problem} />
      <Button
        kind={deployment.passwordLogin || plan.connect ? undefined : 'primary'}
        busy={isPending}
        onClick={() => submit()}
      >
        {verb} {deployment.singleSignOn.label}
      </Button>
    </div>
  )
}
