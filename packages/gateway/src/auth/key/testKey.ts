/** What a rehearsal key brings about. */
export type Rehearsal = '401' | '429' | 'quota' | 'slow'
