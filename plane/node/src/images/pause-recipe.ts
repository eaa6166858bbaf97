import type { Image, ImageRecipe, OfferedProgram } from './image.js';
import type { ImageName } from './image-name.js';

/** `registry.k8s.io/pause` and its kin: does nothing until it is told to end. */
export class PauseRecipe implements ImageRecipe {
  readonly shortNames = ['pause'];

  matches(image: ImageName): boolean {
    return image.path === 'pause' || image.path.endsWith('/pause');
  }

  async offers(): Promise<readonly OfferedProgram[]> {
    return [{ images: ['pause'], origin: 'sleep infinity' }];
  }

  async resolve(): Promise<Image> {
    return {
      id: 'program://usr/bin/sleep@pause',
      description: 'sleep infinity',
      mounts: [],
      files: [],
      entrypoint: ['/usr/bin/sleep', 'infinity'],
      arguments: [],
      environment: {},
      workingDirectory: '/',
    };
  }
}
