/** What an invite's link holds. */
export interface Invite {
  /** What lets somebody sign up; a secret. Empty where there is none. */
  readonly invite: string
  /** The one email address that it is for; empty where it is for whoever has it. */
  readonly email: string
}

/** Reads the fragment of the link: the invite, and after it the email address, where the invite names one. */
export function readInvite(fragment: string): Invite {
  const [invite = '', email = ''] = fragment.split('&mail=')
  return { invite, email }
}
