import type { KubernetesObject, OwnerReference, Pod, PodTemplateSpec } from '@castellan/machinery';

/** A pod as the template of its owner says; the server completes its name. Source: GetPodFromTemplate of kube-controller-manager. */
export function podFromTemplate(template: PodTemplateSpec, owner: KubernetesObject, reference: OwnerReference): Pod {
  const { namespace, name = '' } = owner.metadata;
  const { labels, annotations, finalizers } = template.metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      generateName: `${name}-`,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [reference],
    },
    ...(template.spec === undefined ? {} : { spec: template.spec }),
  };
}
