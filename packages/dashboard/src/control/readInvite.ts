/** The parts of the fragment of a link to the sign-up page. */
export interface Invite {
  /** The invite's secret; empty if there is none. */
  readonly invite: string
  /** The secret that proves the email address; empty if there is none. */
  readonly link: string
  /** The only email address that may use it; empty if anyone may. */
  readonly email: string
}

/** Parses the fragment of a link to the sign-up page: `kri_…` or `kre_…`, then perhaps `&invite=kri_…` and `&email=…`. */
export function readInvite(fragment: string): Invite {
  const [secrets = '', email = ''] = fragment.split('&email=')
  const [first = '', invite = ''] = secrets.split('&invite=')
  return first.startsWith('kre_') ? { link: first, invite, email } : { link: '', invite: first, email }
}
