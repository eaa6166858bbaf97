/** Kinds that are asked, never stored. */
export const reviewKinds = [
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    plural: 'selfsubjectreviews',
    kind: 'SelfSubjectReview',
    isNamespaced: false,
  },
  { group: 'authentication.k8s.io', version: 'v1', plural: 'tokenreviews', kind: 'TokenReview', isNamespaced: false },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    plural: 'localsubjectaccessreviews',
    kind: 'LocalSubjectAccessReview',
    isNamespaced: true,
  },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    plural: 'selfsubjectaccessreviews',
    kind: 'SelfSubjectAccessReview',
    isNamespaced: false,
  },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    plural: 'selfsubjectrulesreviews',
    kind: 'SelfSubjectRulesReview',
    isNamespaced: false,
  },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    plural: 'subjectaccessreviews',
    kind: 'SubjectAccessReview',
    isNamespaced: false,
  },
] as const;
